/* Running the job: several processes at once, each with its fault, and what became of them. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "torture.h"

enum {
    SECONDS = 20, /* for a job that takes a tenth of one */
    MAX_SLOTS = 16,
    LSAN_EXIT = 23, /* of a program that leaked, under LeakSanitizer */
};

/* A process and its files. */
struct slot {
    pid_t process; /* 0: idle */
    const struct run *run;
    char output[64], driver[64], memory[64];
};

static char folder[] = "/tmp/gantry-faults-XXXXXX";

static void remove_files(const struct slot *slot)
{
    unlink(slot->output);
    unlink(slot->driver);
    unlink(slot->memory);
}

static bool open_slots(struct slot *slots, uint32_t count)
{
    if (!mkdtemp(folder)) {
        perror("mkdtemp");
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        slots[i] = (struct slot){0};
        snprintf(slots[i].output, sizeof(slots[i].output), "%s/%u.output", folder, i);
        snprintf(slots[i].driver, sizeof(slots[i].driver), "%s/%u.driver", folder, i);
        snprintf(slots[i].memory, sizeof(slots[i].memory), "%s/%u.memory", folder, i);
    }
    return true;
}

static void close_slots(struct slot *slots, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        remove_files(&slots[i]);
    rmdir(folder);
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
}

/* ---- Starting -------------------------------------------------------------------------------- */

static const char *mode_of(const struct run *run)
{
    if (run->code->sticky)
        return "sticky";
    return run->code->onwards ? "steady" : "passing";
}

static void set_plan(const struct injector *injector, const struct run *run)
{
    char plan[128];
    const char *onwards = run->code->onwards ? "+" : "";

    if (injector->own_memory)
        snprintf(plan, sizeof(plan), "%llu%s", (unsigned long long)run->count, onwards);
    else
        snprintf(plan, sizeof(plan), "%s:%llu%s:%s", run->entry, (unsigned long long)run->count,
                 onwards, run->code->text);
    setenv(injector->plan, plan, 1);
}

/* In the child. A job that hangs is ended by its alarm. */
static void become_job(const struct injector *injector, const char *job, const struct slot *slot)
{
    if (!freopen(slot->output, "w", stdout) || dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
        _exit(127);
    setenv(injector->report, slot->driver, 1);
    setenv("FAULTS_MALLOC_REPORT", slot->memory, 1);
    if (slot->run->count)
        set_plan(injector, slot->run);
    alarm(SECONDS);
    execl(job, job, injector->device, slot->run->count ? mode_of(slot->run) : NULL, (char *)NULL);
    _exit(127);
}

static void start(const struct injector *injector, const char *job, struct slot *slot,
                  const struct run *run)
{
    slot->run = run;
    remove_files(slot);
    fflush(stdout);
    slot->process = fork();
    if (slot->process == 0)
        become_job(injector, job, slot);
}

/* ---- What became of it ----------------------------------------------------------------------- */

static bool begins(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

static bool may_leak(const struct injector *injector, const struct run *run)
{
    for (const char *const *beginning = injector->may_leak; *beginning; beginning++)
        if (begins(run->entry, *beginning))
            return true;
    return false;
}

static bool is_leak(const char *line)
{
    return begins(line, "fault: leaked") || begins(line, "fault: a context was destroyed with");
}

/* The first fault that a report tells of. */
static bool find_fault(const char *path, bool leaks_count, char *line, size_t size)
{
    FILE *file = fopen(path, "r");
    bool found = false;

    while (file && !found && fgets(line, (int)size, file)) {
        line[strcspn(line, "\n")] = '\0';
        found = begins(line, "fault: ") && (leaks_count || !is_leak(line));
    }
    if (file)
        fclose(file);
    return found;
}

/* The job's verdict; what it printed is shown when there is none. */
static bool find_verdict(const struct slot *slot, char *line, size_t size)
{
    FILE *file = fopen(slot->output, "r");
    bool found = false;

    while (file && !found && fgets(line, (int)size, file)) {
        line[strcspn(line, "\n")] = '\0';
        found = begins(line, "job: ");
        if (!found)
            printf("  %s\n", line);
    }
    if (file)
        fclose(file);
    return found;
}

/* The sentence must name the call that failed or the driver's word for it. */
static bool names_cause(const struct injector *injector, const struct run *run, const char *verdict)
{
    size_t base = strcspn(run->entry, "_");

    if (begins(verdict, "job: survived -"))
        return true;
    if (strstr(verdict, run->code->name))
        return true;
    if (run->code->status && strstr(verdict, run->code->status))
        return true;
    return !injector->own_memory && memmem(verdict, strlen(verdict), run->entry, base) != NULL;
}

/* NULL: survived. Else what is wrong, in `text`, which holds the job's verdict at the end. */
static const char *judge(const struct injector *injector, const struct slot *slot, int status,
                         struct tally *tally, char *text, size_t size)
{
    bool leaks_count = !may_leak(injector, slot->run), spoke = find_verdict(slot, text, size);

    if (WIFSIGNALED(status)) {
        tally->crashed++;
        snprintf(text, size, "%s",
                 WTERMSIG(status) == SIGALRM ? "it hung" : strsignal(WTERMSIG(status)));
        return text;
    }
    if (WEXITSTATUS(status) == LSAN_EXIT && leaks_count) {
        tally->leaked++;
        return "LeakSanitizer found a leak";
    }
    if (!spoke) {
        tally->crashed++;
        snprintf(text, size, "it ended with status %d and no verdict", WEXITSTATUS(status));
        return text;
    }
    if (!begins(text, "job: survived"))
        return text;
    if (!names_cause(injector, slot->run, text)) {
        memmove(text + 17, text, size - 17);
        memcpy(text, "cause not named: ", 17);
        return text;
    }
    if (find_fault(slot->memory, true, text, size) ||
        find_fault(slot->driver, leaks_count, text, size)) {
        tally->leaked += is_leak(text);
        return text;
    }
    find_verdict(slot, text, size);
    return NULL;
}

static void finish(const struct injector *injector, struct slot *slot, int status,
                   struct tally *tally)
{
    char text[16384];
    const char *wrong = judge(injector, slot, status, tally, text, sizeof(text));
    const struct run *run = slot->run;

    slot->process = 0;
    tally->faults++;
    tally->survived += wrong == NULL;
    printf("fault: %s %s %llu%s %s: %s%s\n", injector->name, run->entry,
           (unsigned long long)run->count, run->code->onwards ? "+" : "", run->code->text,
           wrong ? "FAILED " : "", wrong ? wrong : text + strlen("job: "));
}

/* ---- All ------------------------------------------------------------------------------------- */

static struct slot *find_slot(struct slot *slots, uint32_t count, pid_t process)
{
    for (uint32_t i = 0; i < count; i++)
        if (slots[i].process == process)
            return &slots[i];
    return NULL;
}

/* Waits for any of them. */
static void reap(const struct injector *injector, struct slot *slots, uint32_t count,
                 struct tally *tally)
{
    int status;
    pid_t process = wait(&status);
    struct slot *slot = process > 0 ? find_slot(slots, count, process) : NULL;

    if (slot)
        finish(injector, slot, status, tally);
}

void runs_do(const struct injector *injector, const char *job, const struct run *runs,
             uint32_t count, struct tally *tally)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t slot_count = processors > MAX_SLOTS ? MAX_SLOTS : (uint32_t)processors;
    struct slot slots[MAX_SLOTS];

    if (!open_slots(slots, slot_count))
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct slot *idle;

        while (!(idle = find_slot(slots, slot_count, 0)))
            reap(injector, slots, slot_count, tally);
        start(injector, job, idle, &runs[i]);
    }
    for (uint32_t i = 0; i < slot_count; i++)
        while (slots[i].process > 0)
            reap(injector, slots, slot_count, tally);
    close_slots(slots, slot_count);
}

static void read_calls(const char *path, void (*visit)(void *, const char *, uint64_t), void *user)
{
    FILE *file = fopen(path, "r");
    char line[256], entry[ENTRY_SIZE];
    unsigned long long calls;

    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "calls: %63s %llu", entry, &calls) == 2)
            visit(user, entry, calls);
    if (file)
        fclose(file);
}

bool run_record(const struct injector *injector, const char *job,
                void (*visit)(void *user, const char *entry, uint64_t calls), void *user)
{
    static const struct code none = {.text = "", .name = ""};
    const struct run sound = {.entry = "-", .code = &none};
    struct tally tally = {0};
    struct slot slot;
    int status;

    if (!open_slots(&slot, 1))
        return false;
    start(injector, job, &slot, &sound);
    waitpid(slot.process, &status, 0);
    finish(injector, &slot, status, &tally);
    read_calls(injector->own_memory ? slot.memory : slot.driver, visit, user);
    close_slots(&slot, 1);
    return tally.survived == 1;
}
