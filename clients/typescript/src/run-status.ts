/** True for the statuses that never change again. */
export const isTerminal = (status: string): boolean => /^(?:Completed|Failed|Cancelled)$/.test(status)

/** True while the run waits for a person, a reply or another agent. */
export const isWaiting = (status: string): boolean => status.startsWith('WaitingFor')
