/* Hooks around the target region, in place of its mapping: they write the region's data to a file
   before and after it, or read them from a file instead of running it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cyclescope_item {
    void *data;
    uint64_t bytes;
    int is_array;
    int is_result;
};

enum { CYCLESCOPE_NO_FILE = 121, CYCLESCOPE_BAD_FILE = 122, CYCLESCOPE_OVERLAP = 123 };

static FILE *cyclescope_file;
static int cyclescope_calls;

/* The region runs on a device, also where threads of the host run it. */
static int cyclescope_inside;
static int cyclescope_outside(void) { return !cyclescope_inside; }
#define omp_is_initial_device cyclescope_outside

static const char *cyclescope_mode(void) {
    const char *mode = getenv("CYCLESCOPE_HLS_MODE");
    return mode ? mode : "";
}

static int cyclescope_threads(void) {
    const char *threads = getenv("CYCLESCOPE_HLS_THREADS");
    return threads ? atoi(threads) : 1;
}

static void cyclescope_stop(int status) {
    fflush(NULL);
    _Exit(status);
}

static void cyclescope_write(const struct cyclescope_item *item) {
    if (fwrite(&item->bytes, sizeof item->bytes, 1, cyclescope_file) != 1
        || fwrite(item->data, 1, item->bytes, cyclescope_file) != item->bytes)
        cyclescope_stop(CYCLESCOPE_BAD_FILE);
}

/* Give the arrays the contents of a file; what has them already may be constant. */
static void cyclescope_restore(struct cyclescope_item *items, int count) {
    for (int i = 0; i < count; i++) {
        uint64_t bytes = 0;
        if (!items[i].is_array)
            continue;
        if (fread(&bytes, sizeof bytes, 1, cyclescope_file) != 1)
            cyclescope_stop(CYCLESCOPE_BAD_FILE);
        if (bytes != items[i].bytes) /* another run's sizes: nothing can be compared */
            return;
        char part[4096];
        for (uint64_t at = 0; at < bytes; at += sizeof part) {
            char *place = (char *)items[i].data + at;
            size_t size = bytes - at < sizeof part ? bytes - at : sizeof part;
            if (fread(part, 1, size, cyclescope_file) != size)
                cyclescope_stop(CYCLESCOPE_BAD_FILE);
            if (memcmp(place, part, size))
                memcpy(place, part, size);
        }
    }
}

/* Begin the region; 1 if it has been replaced by recorded results. To "begin" alone ends there;
   "given" and "resume" have the arrays' contents before the region from the file, too. */
static int cyclescope_enter(struct cyclescope_item *items, int count) {
    cyclescope_inside = 1;
    if (cyclescope_calls++ || !*cyclescope_mode())
        return 0;
    int resume = !strcmp(cyclescope_mode(), "resume");
    int replay = resume || !strcmp(cyclescope_mode(), "replay");
    if (!strcmp(cyclescope_mode(), "given")) {
        cyclescope_file = fopen(getenv("CYCLESCOPE_HLS_FILE"), "rb");
        if (!cyclescope_file)
            cyclescope_stop(CYCLESCOPE_NO_FILE);
        cyclescope_restore(items, count);
        fclose(cyclescope_file);
    }
    cyclescope_file = fopen(getenv("CYCLESCOPE_HLS_FILE"), replay ? "rb" : "wb");
    if (!cyclescope_file)
        cyclescope_stop(CYCLESCOPE_NO_FILE);
    for (int i = 0; i < count; i++) {
        if (!items[i].is_array)
            continue;
        for (int j = 0; j < i; j++) {
            char *a = items[i].data, *b = items[j].data;
            if (items[j].is_array && a < b + items[j].bytes && b < a + items[i].bytes) {
                fprintf(cyclescope_file, "%d %d", j, i);
                fclose(cyclescope_file);
                cyclescope_stop(CYCLESCOPE_OVERLAP);
            }
        }
    }
    if (resume)
        cyclescope_restore(items, count);
    for (int i = 0; i < count; i++) {
        if (!replay) {
            cyclescope_write(&items[i]);
        } else if (items[i].is_array) {
            uint64_t bytes = 0;
            if (fread(&bytes, sizeof bytes, 1, cyclescope_file) != 1 || bytes != items[i].bytes)
                cyclescope_stop(CYCLESCOPE_BAD_FILE);
            if (!items[i].is_result)
                fseek(cyclescope_file, (long)bytes, SEEK_CUR);
            else if (fread(items[i].data, 1, bytes, cyclescope_file) != bytes)
                cyclescope_stop(CYCLESCOPE_BAD_FILE);
        }
    }
    /* What has been recorded must be there to read if the region never ends. */
    if (!replay && fflush(cyclescope_file))
        cyclescope_stop(CYCLESCOPE_BAD_FILE);
    if (!strcmp(cyclescope_mode(), "begin"))
        cyclescope_stop(0);
    return replay;
}

static void cyclescope_leave(struct cyclescope_item *items, int count) {
    cyclescope_inside = 0;
    if (!cyclescope_file)
        return;
    if (!strcmp(cyclescope_mode(), "record") || !strcmp(cyclescope_mode(), "given"))
        for (int i = 0; i < count; i++)
            if (items[i].is_array)
                cyclescope_write(&items[i]);
    if (fclose(cyclescope_file))
        cyclescope_stop(CYCLESCOPE_BAD_FILE);
    cyclescope_file = NULL;
}
