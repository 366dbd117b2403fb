/** What counts as a save while a command watches a folder. */
import { spawn } from 'node:child_process'
import { mkdtempSync, openSync, readFileSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { removeDirectory } from '../remove-directory.ts'

const PROGRAM = `
  import { appendFileSync, writeFileSync } from 'node:fs'
  import { join } from 'node:path'
  import { watchFiles } from '${new URL('../../src/cli/files/watch.ts', import.meta.url).href}'
  const [directory] = process.argv.slice(1)
  const watching = await watchFiles(directory, async (paths) => {
    console.log(JSON.stringify(paths))
    await watching.close()
  }, new AbortController().signal)
  console.log('watches')
  writeFileSync(join(directory, 'agent.yaml'), 'kind: Agent')
  appendFileSync(join(directory, 'printed.txt'), '')
`

test.each([
  ['its own output', true, ['agent.yaml']],
  ['another file', false, ['agent.yaml', 'printed.txt']],
])('counts what is written to %s as it should', async (_, isOwn, saved) => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'svc-watch-')))
  const elsewhere = realpathSync(mkdtempSync(join(tmpdir(), 'svc-watch-')))
  const printed = join(isOwn ? directory : elsewhere, 'printed.txt')
  try {
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', PROGRAM, directory], {
      stdio: ['ignore', openSync(printed, 'w'), 'inherit'],
    })
    await once(child, 'exit')
    expect(readFileSync(printed, 'utf8')).toBe(
      `watches\n${JSON.stringify(saved.map((each) => join(directory, each)))}\n`,
    )
  } finally {
    removeDirectory(directory)
    removeDirectory(elsewhere)
  }
})
