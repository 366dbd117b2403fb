/** Pages of the console as addresses for people. Opening one decides nothing. */

export const taskAddress = (consoleUrl: string, taskId: string): string =>
  `${trimmed(consoleUrl)}/inbox/${taskId}?tab=all`

export const runAddress = (consoleUrl: string, runId: string): string => `${trimmed(consoleUrl)}/runs/${runId}`

/** Where the pages of one-time links are. */
export const DECISION_PATH = '/decide/'

/** @param secret whoever knows it may decide */
export const decisionAddress = (consoleUrl: string, secret: string): string =>
  `${trimmed(consoleUrl)}${DECISION_PATH}${secret}`

const trimmed = (url: string): string => url.replace(/\/+$/, '')
