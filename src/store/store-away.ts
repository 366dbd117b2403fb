import { isFailure, type Failure } from '../base/failure.ts'

/** True if the store is out of reach or full. The store logs this once itself, so callers need not. */
export const isStoreAway = (error: unknown): error is Failure =>
  isFailure(error, 'store_unreachable') || isFailure(error, 'store_busy') || isFailure(error, 'storage_full')
