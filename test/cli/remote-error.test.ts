/** What the command line says of a request that a server refused. */
import { expect, test } from 'vitest'
import { describeCommandError } from '../../src/cli/shell/exit.ts'
import { remoteError } from '../../src/client/remote-error.ts'

const BODY = { error: 'Run r-1 cannot be resumed: it was started again as run r-2.', code: 'run_not_resumable' }
const hintOf = (body: object): string | undefined =>
  describeCommandError(remoteError(409, 'POST /runs/r-1/resume', JSON.stringify(body)))?.hint

test("the server's remedy is printed, else the usual one of the code", () => {
  expect(hintOf({ ...BODY, fix: 'Go on with that run: svc runs get r-2' })).toBe(
    'Go on with that run: svc runs get r-2',
  )
  expect(hintOf(BODY)).toBe('Start it again with svc runs retry.')
  expect(hintOf({ ...BODY, fix: 7 })).toBe('Start it again with svc runs retry.')
})
