/** Checks whether the channels of `notify` can do what they need: of Slack, token and scopes. Nothing is sent to anybody. */
import { signalWithin } from '../../base/signal-within.ts'
import { safeText } from '../../base/text/escape-text.ts'
import { checkSlackScopes } from '../../server/notify/slack/check-scopes.ts'
import { createSlackApi } from '../../server/notify/slack/slack-api.ts'
import { loadDocuments } from '../project/documents.ts'
import { withDotEnv } from '../project/dot-env.ts'
import { healthy, unhealthy, unknownProject, type DoctorChecks } from './finding.ts'

const TIMEOUT_MS = 5000

export const channelChecks: DoctorChecks = {
  async channels(call, project) {
    if (!project) return unknownProject
    const channels = Object.entries(project.config.notify?.channels ?? {}).filter(([, { slack }]) => slack)
    if (channels.length === 0) return healthy('none that need a look')
    const env = await withDotEnv(call.io.env, project, await loadDocuments(project))
    const { fetch, clock } = call.io
    const said: string[] = []
    const problems: string[] = []
    for (const [name, { slack }] of channels) {
      if (!slack) continue
      // The token is the server's, which may be another machine's.
      if (env[slack.token.fromEnv] === undefined) {
        said.push(`${name}: ${slack.token.fromEnv} is not set here, so svc notify test ${name} asks the server`)
        continue
      }
      const signal = signalWithin(TIMEOUT_MS, call.signal)
      await checkSlackScopes(slack, { env }, createSlackApi(slack, { env, fetch, clock }), signal).then(
        () => said.push(`${name}: its app may do what it needs`),
        (error: unknown) => problems.push(`${name}: ${safeText((error as Error).message)}`),
      )
    }
    if (problems.length > 0)
      return unhealthy([...problems, ...said].join('; '), 'svc notify test CHANNEL, once it is mended')
    return healthy(said.join('; '))
  },
}
