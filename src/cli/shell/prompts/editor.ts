/** Opens a text in the user's editor. */
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fail } from '../../../base/failure.ts'

/**
 * Returns the saved text.
 * @param editor the command, as `EDITOR` has it
 * @throws Failure `usage` when it cannot be started, or ended with another code than 0
 */
export async function editText(editor: string, text: string, signal?: AbortSignal): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-edit-'))
  const file = join(directory, 'edit.json')
  try {
    await writeFile(file, text, { mode: 0o600 })
    await openEditor(editor, file, signal)
    return await readFile(file, 'utf8')
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

function openEditor(command: string, file: string, signal: AbortSignal | undefined): Promise<void> {
  const [program = '', ...args] = command.split(' ')
  return new Promise((done, failed) => {
    // The person's terminal is stderr: stdout may be a pipe that only takes the answer.
    const child = spawn(program, [...args, file], { stdio: ['inherit', 2, 'inherit'], ...(signal && { signal }) })
    child.on('error', () =>
      failed(fail('usage', { what: `The editor "${command}" cannot be started.` }, { fix: 'Set EDITOR.' })),
    )
    child.on('close', (code) =>
      code === 0 ? done() : failed(fail('usage', { what: `The editor ended with ${code}; nothing was sent.` })),
    )
  })
}
