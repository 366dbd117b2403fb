import { fail } from '../../../base/failure.ts'
import type { CommandContext } from '../command.ts'

/**
 * Asks for confirmation before data is lost; `--yes` confirms without asking.
 * @param what names what is lost, as a question
 * @throws Failure `needs_terminal`
 */
export async function confirmLoss({ mode, io, signal }: CommandContext, what: string): Promise<boolean> {
  if (mode.yes) return true
  if (!mode.interactive)
    throw fail('needs_terminal', { what: `${what} There is no terminal to ask on.` }, { fix: 'Add --yes.' })
  return await io.prompts.confirm(what, signal)
}
