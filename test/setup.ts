import { spawnSync } from 'node:child_process'

/** The binary that tests start is built from the sources they test. */
export function setup(): void {
  const { status, stderr } = spawnSync(
    process.execPath,
    ['scripts/build.js', '--types', '--failpoints', '--if-changed'],
    {
      encoding: 'utf8',
    },
  )
  if (status !== 0) throw new Error(`The build failed.\n${stderr}`)
}
