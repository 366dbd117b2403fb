/** Whether the channels of `notify` can do what they need, asked without telling anybody anything. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { startFakeSlack } from '../fakes/slack.ts'
import { removeDirectory } from '../remove-directory.ts'
import { closing } from '../server/running.ts'
import { svc } from './recording-io.ts'

const cwd = mkdtempSync(join(tmpdir(), 'svc-doctor-'))
afterAll(() => removeDirectory(cwd))

const doctor = async (env: Record<string, string>) => {
  const { code, stdout } = await svc(['doctor', 'channels', '--json'], {
    cwd,
    env: { XDG_CONFIG_HOME: join(cwd, 'user'), ...env },
  })
  const { items } = JSON.parse(stdout) as { items: { say: string }[] }
  return { code, say: items[0]?.say }
}

test('the scopes of an app of Slack are asked for, and what is missing is named', async () => {
  const slack = await startFakeSlack()
  closing(() => slack.close())
  writeFileSync(
    join(cwd, 'svc.config.yaml'),
    `workspace: acme
notify:
  channels:
    finance: { slack: { token: { fromEnv: TOKEN }, signing_secret: { fromEnv: SECRET }, channel: C0123456789, api: "${slack.api}" } }
    tell: { command: [node, tell.mjs] }
  routes: []
`,
  )
  expect(await doctor({})).toEqual({
    code: 0,
    say: 'finance: TOKEN is not set here, so svc notify test finance asks the server',
  })
  const env = { TOKEN: 'xoxb-1-test', SECRET: 'abc' }
  expect(await doctor(env)).toEqual({ code: 0, say: 'finance: its app may do what it needs' })
  slack.scopes = 'chat:write,users:read'
  expect(await doctor(env)).toEqual({
    code: 1,
    say: 'finance: the token in TOKEN lacks the scope users:read.email: add it to the app under OAuth & Permissions, and install the app again',
  })
  expect(await doctor({ ...env, SECRET: '' })).toEqual({
    code: 1,
    say: 'finance: the environment variable SECRET of the server has no signing secret, so no click counts',
  })
  expect(await doctor({ ...env, TOKEN: 'xoxb 1' })).toEqual({
    code: 1,
    say: 'finance: the environment variable TOKEN of the server has no bot token of the form xoxb-…',
  })
  expect(slack.messages).toEqual([])
})
