#include "cli/help/completion.h"
#include "cli/help/help.h"

void gf_completion_print(FILE *file, enum gf_shell shell)
{
    switch (shell) {
    case GF_SHELL_BASH:
        gf_completion_bash(file);
        break;
    case GF_SHELL_ZSH:
        gf_completion_zsh(file);
        break;
    case GF_SHELL_FISH:
        gf_completion_fish(file);
        break;
    }
}
