import { script } from '@bomb.sh/tab'
import type { CommandContext } from '../../shell/command.ts'
import { bashCompletion } from '../../shell/completion-bash.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const

/** Prints a script that makes a shell call `svc complete`. */
export async function completion({ given, out }: CommandContext): Promise<void> {
  const shell = given.required(0)
  if (!(SHELLS as readonly string[]).includes(shell))
    throw usageFailure(`There is no completion for "${shell}".`, `One of ${SHELLS.join(', ')}.`)
  if (shell === 'bash') return out.line(bashCompletion)
  const generated = printed(() => script(shell, 'svc', 'svc')).trimEnd()
  out.line(shell === 'zsh' ? generated.replace('compdef _svc svc', `${LOAD_COMPINIT}\ncompdef _svc svc`) : generated)
}

/** In a zsh whose start files do not load its completion system, `compdef` is not a command. */
const LOAD_COMPINIT = '(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -iD }'

/** Captures the output of the generator, which only prints. */
function printed(work: () => void): string {
  const { console: theirs } = globalThis
  const { log } = theirs
  const lines: string[] = []
  theirs.log = (text: string) => void lines.push(text)
  try {
    work()
  } finally {
    theirs.log = log
  }
  return lines.join('\n')
}
