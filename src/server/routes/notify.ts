/** POST /notify/slack/{channel} (extension): what people click in Slack. Its channel checks who sent it. */
import { fail } from '../../base/failure.ts'
import type { ApiRoute } from '../http/route.ts'
import type { ServerServices } from '../runtime/services.ts'

export const notifyRoutes = ({ serverState }: ServerServices): readonly ApiRoute[] => [
  {
    method: 'POST',
    path: '/notify/slack/:channel',
    handle(call) {
      const receive = serverState.noticeReceivers?.get(call.params['channel']!)
      if (!receive) throw fail('not_found', { what: 'route' })
      return receive(call)
    },
  },
]
