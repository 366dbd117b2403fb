/** Asks for a line that is not shown while it is typed. */
import { Interrupted } from '../io.ts'

/** Draws nothing but the question, so that it serves a screen reader too. */
export async function askHidden(question: string, signal?: AbortSignal): Promise<string> {
  const { password } = await import('./inquirer.ts')
  try {
    return await password({ message: question, mask: false }, { output: process.stderr, ...(signal && { signal }) })
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    if (error instanceof Error && error.name === 'ExitPromptError') throw new Interrupted('SIGINT')
    throw error
  }
}
