import { isFailure } from '../../base/failure.ts'
import { watchFiles } from '../files/watch.ts'
import type { CommandContext } from '../shell/command.ts'
import { untilStopped } from './open-server.ts'

/** Works once, then again after every save, until Ctrl-C. Failures are printed and do not end it. */
export async function repeatOnSave(
  { out, signal }: CommandContext,
  directory: string,
  work: () => Promise<unknown>,
): Promise<void> {
  const again = async (): Promise<void> => {
    await work().catch((error: unknown) => {
      if (!isFailure(error)) throw error
      out.message(error.message)
    })
  }
  await again()
  const watching = await watchFiles(directory, again, signal)
  out.hint('waiting for changes; Ctrl-C ends')
  await untilStopped(signal)
  await watching.close()
}
