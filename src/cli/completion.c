// SPDX-License-Identifier: Apache-2.0
/* completion.c - `stoker completion bash`: the script, made from the same rows as the help */
#include <stdio.h>

#include "base/mem.h"
#include "cli/command.h"

static void print_words(const struct command *cmd)
{
	for (const struct opt *o = cmd->opts; o && o->name; o++)
		printf(" --%s", o->name);
	printf(" --help");
}

static void print_choices(const struct command *cmd)
{
	for (const struct opt *o = cmd->opts; o && o->name; o++) {
		if (o->type != OPT_CHOICE)
			continue;
		printf("    \"%s --%s\") words=\"", cmd->name, o->name);
		for (const char *p = o->choices; *p; p++)
			putchar(*p == '|' ? ' ' : *p);
		printf("\" ;;\n");
	}
}

/* First words, and second words of each group. */
static void print_commands(void)
{
	printf("    \"\") words=\"");
	for (size_t i = 0; commands[i]; i++) {
		struct str rest = str_of(commands[i]->name);
		struct str word;
		bool again = false;

		str_split(&rest, ' ', &word);
		for (size_t k = 0; k < i; k++)
			again |= strncmp(commands[k]->name, word.p, word.n) == 0 &&
				 strchr(" ", commands[k]->name[word.n]);
		if (!again)
			printf("%.*s ", STR_FMT(word));
	}
	printf("\" ;;\n    \"token\") words=\"");
	for (size_t i = 0; commands[i]; i++)
		if (str_starts(commands[i]->name, "token "))
			printf("%s ", commands[i]->name + 6);
	printf("\" ;;\n");
}

/* Names of workloads come from the server; with their kind once a slash is there. */
static void print_names(void)
{
	const char *bar = "";

	printf("  ");
	for (size_t i = 0; commands[i]; i++)
		if (commands[i]->names) {
			printf("%s%s", bar, commands[i]->name);
			bar = "|";
		}
	puts(")\n"
	     "    words=$(\"${COMP_WORDS[0]}\" ps -a -o name 2>/dev/null)\n"
	     "    [[ $cur == */* ]] || words=$(sed 's,.*/,,' <<<\"$words\")\n"
	     "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;");
}

static int run(const struct command *cmd, int argc, char **argv)
{
	char **rest;
	int nrest;

	if (command_parse(cmd, NULL, argc, argv, 1, 1, &rest, &nrest) < 0)
		return 2;
	if (!streq(rest[0], "bash")) {
		fprintf(stderr, "stoker completion: there is none for \"%s\", only for bash\n", rest[0]);
		return 2;
	}
	puts("# bash completion for stoker\n"
	     "_stoker() {\n"
	     "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\" cmd=\"\" words=\"\" i\n"
	     "  for ((i = 1; i < COMP_CWORD && i < 3; i++)); do\n"
	     "    [[ ${COMP_WORDS[i]} == -* ]] && break\n"
	     "    cmd=\"${cmd:+$cmd }${COMP_WORDS[i]}\"\n"
	     "  done\n"
	     "  case \"$cmd $prev\" in");
	for (size_t i = 0; commands[i]; i++)
		print_choices(commands[i]);
	puts("  esac\n"
	     "  [[ -n $words ]] && { COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")); return; }\n"
	     "  case \"$cmd\" in");
	print_commands();
	for (size_t i = 0; commands[i]; i++) {
		printf("    \"%s\") words=\"", commands[i]->name);
		print_words(commands[i]);
		printf("\" ;;\n");
	}
	puts("  esac\n"
	     "  if [[ $cur == -* || $cmd == \"\" || $cmd == token ]]; then\n"
	     "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	     "    return\n"
	     "  fi\n"
	     "  case \"${COMP_WORDS[1]}\" in");
	print_names();
	puts("  *)\n"
	     "    COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n"
	     "  esac\n"
	     "}\n"
	     "complete -F _stoker stoker");
	return 0;
}

const struct command cmd_completion = {
	.name = "completion",
	.args = "bash",
	.summary = "Print a bash completion script",
	.details = "To use it in this shell:  source <(stoker completion bash)\n",
	.opts = (const struct opt[]){ OPT_END },
	.run = run,
};
