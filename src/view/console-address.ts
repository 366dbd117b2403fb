/** Screens of the console as addresses for people. They stand behind the sign-in, and opening one decides nothing. */

export const taskAddress = (consoleUrl: string, taskId: string): string =>
  `${trimmed(consoleUrl)}/inbox/${taskId}?tab=all`

export const runAddress = (consoleUrl: string, runId: string): string => `${trimmed(consoleUrl)}/runs/${runId}`

const trimmed = (url: string): string => url.replace(/\/+$/, '')
