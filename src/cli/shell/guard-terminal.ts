/** Input and output with which a command cannot write anything that a terminal obeys. */
import { escapeForTerminal, guardSink } from '../../terminal/terminal-writer.ts'
import type { Io, PromptChoice, Prompts } from './io.ts'

export function guardTerminal(io: Io): Io {
  const stdout = guardSink(io.stdout)
  const { page, writeBytes } = io
  return {
    ...io,
    stdout,
    stderr: guardSink(io.stderr),
    ...(page && { page: (text: string) => page(escapeForTerminal(text)) }),
    ...(writeBytes && {
      writeBytes: (bytes: Uint8Array) =>
        stdout.isTTY ? stdout.write(new TextDecoder().decode(bytes)) : writeBytes(bytes),
    }),
    prompts: guardPrompts(io.prompts),
  }
}

/** Questions name what others wrote. A text to edit stays as it is: the answer is what the person saves. */
const guardPrompts = (prompts: Prompts): Prompts => ({
  ...prompts,
  confirm: (question, ...rest) => prompts.confirm(escapeForTerminal(question), ...rest),
  text: (question, ...rest) => prompts.text(escapeForTerminal(question), ...rest),
  secret: (question, ...rest) => prompts.secret(escapeForTerminal(question), ...rest),
  key: (question, ...rest) => prompts.key(escapeForTerminal(question), ...rest),
  select: (question, choices, ...rest) =>
    prompts.select(escapeForTerminal(question), choices.map(guardChoice), ...rest),
})

const guardChoice = (choice: PromptChoice): PromptChoice => ({
  ...choice,
  name: escapeForTerminal(choice.name),
  ...(choice.description !== undefined && { description: escapeForTerminal(choice.description) }),
})
