import { fail } from '../../base/failure.ts'
import type { CommandContext } from './command.ts'

/**
 * Asks before something is lost. `--yes` answers; without a terminal and without it nothing happens.
 * @param what names what is lost, as a question
 * @throws Failure `needs_terminal`
 */
export async function confirmLoss({ mode, io, signal }: CommandContext, what: string): Promise<boolean> {
  if (mode.yes) return true
  if (!mode.interactive)
    throw fail('needs_terminal', { what: `${what} Nobody can be asked here.` }, { fix: 'Add --yes.' })
  return await io.prompts.confirm(what, signal)
}
