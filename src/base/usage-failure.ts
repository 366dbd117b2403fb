import { fail, type Failure } from './failure.ts'

/** The failure of a command line that does not fit. @param fix what to type instead */
export const usageFailure = (what: string, fix?: string): Failure => fail('usage', { what }, { fix })
