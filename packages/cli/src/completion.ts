import type { Command } from './command.ts'
import { oneOf, readOptions } from './input/read-options.ts'
import { COMMON_OPTIONS } from './parser.ts'

/** Each script asks this program what may follow, so that none of them can be out of date. */
const SCRIPTS = {
  bash: `_secondwind() {
  mapfile -t COMPREPLY < <(secondwind completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _secondwind secondwind`,
  zsh: `_secondwind() {
  local -a found
  found=(\${(f)"$(secondwind completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  compadd -a found || _files
}
compdef _secondwind secondwind`,
  fish: `complete -c secondwind -a '(secondwind completion words -- (commandline -opc)[2..] (commandline -ct))'`,
} as const

const SHELLS = Object.keys(SCRIPTS) as readonly (keyof typeof SCRIPTS)[]

/** Completion for shells: what may follow, from the commands as they are. */
export function completionCommand(commands: readonly Command[]): Command {
  const command: Command = {
    path: ['completion'],
    summary: 'a script that completes these commands',
    arguments: [
      {
        usage: '<shell>',
        say: 'whose script it is to be',
        choices: SHELLS,
      },
      { usage: '[typed...]', say: 'what has been typed, as the scripts tell it' },
    ],
    examples: ['completion bash > ~/.local/share/bash-completion/completions/secondwind'],
    run: ({ args }) => {
      const [given, typed = []] = args as [string, (readonly string[])?]
      // What the scripts ask; nobody types it.
      if (given === 'words') {
        const words = following([...commands, command], typed)
        return { data: { words }, show: () => words.join('\n') }
      }
      const { '<shell>': shell } = readOptions({ '<shell>': given }, { '<shell>': oneOf(...SHELLS) })
      return { data: { shell, script: SCRIPTS[shell] }, show: () => SCRIPTS[shell] }
    },
  }
  return command
}

/** What may stand where the last of the typed words stands, and begins like it. */
function following(commands: readonly Command[], typed: readonly string[]): readonly string[] {
  const [before, current] = [typed.slice(0, -1), typed.at(-1) ?? '']
  const startsWith = (words: readonly string[], beginning: readonly string[]): boolean =>
    beginning.every((word, index) => words[index] === word)
  const [command] = commands
    .filter(({ path }) => startsWith(before, path))
    .toSorted((one, other) => other.path.length - one.path.length)
  const words = [
    ...commands.flatMap(({ path }) => (startsWith(path, before) ? (path[before.length] ?? []) : [])),
    ...(before.length === 0 ? ['help', '--help', '--version'] : []),
    ...(command === undefined ? [] : wordsAfter(command, before.at(-1))),
  ]
  return [...new Set(words)].filter(word => word.startsWith(current))
}

/** The values of the option before, or else names that may be arguments, and options. */
function wordsAfter({ arguments: args = [], options = [] }: Command, previous: string | undefined): readonly string[] {
  const all = [...options, ...COMMON_OPTIONS].map(({ flag, choices }) => ({ name: flag.split(' ')[0]!, choices }))
  const ofOption = all.find(({ name }) => name === previous)?.choices
  return ofOption ?? [...args.flatMap(({ choices = [] }) => choices), ...all.map(({ name }) => name)]
}
