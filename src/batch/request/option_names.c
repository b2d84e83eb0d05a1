#include "batch/request/request.h"

#include <stddef.h>
#include <string.h>

static const char *const units[] = {"_bytes", "_s"};
static const char member[] = "options.", look_up[] = "gf_filter_at lists", list[] = "--list shows";

/* Returns the length of the option's name in "options.NAME"; 0 if the text begins with anything
 * else, such as the name of a file, "options.png: ". */
static size_t option_length(const char *text)
{
    if (strncmp(text, member, sizeof member - 1))
        return 0;
    const char *const name = text + sizeof member - 1;
    const size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz_");
    /* A name may also end at the end of the text. */
    return strchr("=);", name[length]) ? length : 0;
}

/* The option --max-bytes keeps the unit in its name. */
static const char whole[] = "max_bytes";

/* Returns the length of the unit with which the option's name ends; 0 if it has none. */
static size_t unit_length(const char *name, size_t length)
{
    if (length == sizeof whole - 1 && !memcmp(name, whole, length))
        return 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t size = strlen(units[i]);
        if (length > size && !memcmp(name + length - size, units[i], size))
            return size;
    }
    return 0;
}

void gf_name_options_as_typed(char *text)
{
    char *to = text;
    for (const char *from = text; *from;) {
        const size_t length = option_length(from);
        if (length) {
            const char *const name = from + sizeof member - 1;
            const size_t unit = unit_length(name, length); /* --memory sets memory_bytes */
            *to++ = '-';
            *to++ = '-';
            for (from = name; from < name + length; from++)
                *to++ = *from == '_' ? '-' : *from;
            to -= unit;
        } else if (!strncmp(from, look_up, sizeof look_up - 1)) {
            memcpy(to, list, sizeof list - 1);
            to += sizeof list - 1;
            from += sizeof look_up - 1;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
}
