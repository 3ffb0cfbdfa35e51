/* Pictures, drawn by gnuplot. */
#include "gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../output.h"

extern char **environ;

/* The script is its standard input, the picture its standard output: no file name in the script,
 * and no pipe that could break. */
static bool run_gnuplot(int script, int picture)
{
    char *const arguments[] = {"gnuplot", NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int error, status = 0;

    error = posix_spawn_file_actions_init(&actions);
    if (error == 0) {
        posix_spawn_file_actions_adddup2(&actions, script, STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&actions, picture, STDOUT_FILENO);
        error = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    if (error) {
        output_error("bench: can't run gnuplot, which draws the picture: %s (Debian: apt install "
                     "gnuplot-nox)",
                     strerror(error));
        return false;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    output_error("bench: gnuplot failed; what it said is above");
    return false;
}

static bool draw(FILE *script, const char *file)
{
    int picture = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool drawn;

    if (picture < 0) {
        output_error("bench: %s can't be written: %s", file, strerror(errno));
        return false;
    }
    drawn = run_gnuplot(fileno(script), picture);
    if (close(picture) != 0 && drawn) {
        output_error("bench: %s can't be written: %s", file, strerror(errno));
        drawn = false;
    }
    return drawn;
}

bool gnuplot_draw(const char *file, void (*write)(FILE *script, const void *what), const void *what)
{
    FILE *script = tmpfile();
    bool drawn;

    if (!script) {
        output_error("bench: a temporary file can't be made: %s", strerror(errno));
        return false;
    }
    write(script, what);
    rewind(script); /* writes it out, too */
    drawn = !ferror(script) && draw(script, file);
    fclose(script);
    return drawn;
}

void gnuplot_figure(FILE *script, double value)
{
    if (isnan(value))
        fputs(" NaN", script);
    else
        fprintf(script, " %.17g", value);
}
