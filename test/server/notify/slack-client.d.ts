/** What the tests use of the packages of Slack and Microsoft, which are installed in a folder of their own. */
interface SlackAnswered {
  readonly ok: boolean
  readonly channel?: string
  readonly ts?: string
  readonly team_id?: string
}
type Method = (given?: object) => Promise<SlackAnswered>

export declare class WebClient {
  constructor(token: string, options: object)
  readonly chat: { readonly postMessage: Method; readonly update: Method }
  readonly users: { readonly info: Method }
  readonly auth: { readonly test: Method }
}

export declare class AdaptiveCard {
  parse(card: object): void
  toJSON(): object
  validateProperties(): { readonly validationEvents: readonly { readonly message: string }[] }
}

export declare const isValidSlackRequest: (request: {
  readonly signingSecret: string
  readonly body: string
  readonly headers: { readonly 'x-slack-signature': string; readonly 'x-slack-request-timestamp': number }
  readonly nowMilliseconds: number
}) => boolean
