import { spawnSync } from 'node:child_process'
import { installTools } from '../scripts/tools.js'
import { openPackedDirectory } from './packed.ts'
import { openTemporaryDirectory } from './temporary-directory.ts'

/**
 * What only tests use is installed by the first of them. The binary that tests start is built from the sources they test. `TEST_BUILD=off` leaves it as it is, for tests that start none.
 * @returns removes what tests packed and left behind
 */
export function setup(): () => void {
  installTools('test')
  const removeTemporary = openTemporaryDirectory()
  openPackedDirectory()
  if (process.env['TEST_BUILD'] === 'off') {
    // The list of rules is theirs at once: a new rule is a new file.
    spawnSync(process.execPath, ['scripts/rule-table.js'], { stdio: 'inherit' })
    return removeTemporary
  }
  const { status, stderr } = spawnSync(
    process.execPath,
    ['scripts/build.js', '--types', '--failpoints', '--if-changed'],
    {
      encoding: 'utf8',
    },
  )
  if (status !== 0) throw new Error(`The build failed.\n${stderr}`)
  return removeTemporary
}
