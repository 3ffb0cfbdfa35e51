/* Runs a fuzz target over files, and over the files of folders. */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

enum { INPUT_MAX = 1 << 20, PATH_SIZE = 1024 };

static unsigned count;

static void replay_file(const char *path)
{
    uint8_t *input = malloc(INPUT_MAX);
    FILE *file = fopen(path, "rb");
    size_t size;

    if (!file || !input) {
        fprintf(stderr, "replay: %s can't be read\n", path);
        exit(1);
    }
    size = fread(input, 1, INPUT_MAX, file);
    fclose(file);
    printf("%s\n", path);
    fflush(stdout); /* before what may end the program */
    LLVMFuzzerTestOneInput(input, size);
    free(input);
    count++;
}

static void replay_folder(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    char file[PATH_SIZE];

    while (folder && (entry = readdir(folder))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
        replay_file(file);
    }
    if (folder)
        closedir(folder);
}

int main(int argc, char **argv)
{
    struct stat info;

    for (int i = 1; i < argc; i++) {
        if (stat(argv[i], &info) == 0 && S_ISDIR(info.st_mode))
            replay_folder(argv[i]);
        else
            replay_file(argv[i]);
    }
    printf("%u inputs\n", count);
    return count ? 0 : 1;
}
