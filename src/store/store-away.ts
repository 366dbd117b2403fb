import { isFailure, type Failure } from '../base/failure.ts'

/** True where the store cannot be reached or has no room: it tells so itself, once, so nobody else needs to. */
export const isStoreAway = (error: unknown): error is Failure =>
  isFailure(error, 'store_unreachable') || isFailure(error, 'store_busy')
