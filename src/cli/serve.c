/* Runs a server of pictures in the foreground (--serve), or ends one (--serve=stop). */
#include "cli/actions.h"

#include "base/fail.h"
#include "cli/messages.h"
#include "server/client.h"
#include "server/serve.h"

static void tell(void *context, const char *text)
{
    const struct gf_command *const command = context;
    if (!command->quiet)
        gf_message_print("", text);
}

static enum gf_status stop(struct gf_command *command, struct gf_error *error)
{
    bool was_there;
    GF_TRY(gf_server_stop(&was_there, error));
    if (!was_there)
        tell(command, "there is no server");
    return GF_OK;
}

enum gf_status gf_act_serve(struct gf_command *command, struct gf_error *error)
{
    if (command->form == GF_SERVE_STOP)
        return stop(command, error);
    if (command->options.device == GF_DEVICE_CPU || command->devices > 1 || command->all_devices)
        return gf_fail(error, GF_ERROR_USAGE, "--serve works with one GPU: --device=cuda:N");
    const struct gf_server_settings settings = {.device = command->options.device_index,
                                                .memory_bytes = command->options.memory_bytes,
                                                .device_memory_bytes =
                                                    command->options.device_memory_bytes,
                                                .workers = command->options.threads,
                                                .idle_s = command->idle_s,
                                                .sandbox = command->options.sandbox,
                                                .ready = tell,
                                                .context = command};
    return gf_serve(&settings, error);
}
