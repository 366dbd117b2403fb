type CheckProgram = 'knip' | 'oxfmt' | 'oxlint' | 'tsc'

/** The command that starts one of the programs that check a checkout, which are installed. */
export function commandOf(name: CheckProgram): [node: string, program: string]

/** Runs one of them to its end, installed where it is missing. @returns its exit status */
export function runTool(name: CheckProgram, ...args: string[]): number
