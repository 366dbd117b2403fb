/** A value of the server that a screen shows, read again when a hint says that it may have changed. */
import { createSignal } from './signal.ts'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { LiveHint } from '../../operations/server.ts'
import type { OperatorRoutes } from '../../operations/operations.ts'
import type { RouteArguments } from '../../operations/request.ts'
import { onHint } from './live.ts'
import { callOperator, findRefusal, type RequestError } from './request.ts'
import { useSignal } from './use-signal.ts'

export interface Resource<T> {
  /** Undefined until it was read. Stays while a later read fails. */
  readonly value: T | undefined
  readonly error: RequestError | undefined
  /** Reads again. Calls meanwhile are one read more. @returns what is known then */
  reload(): Promise<T | undefined>
}

interface Reading<T> {
  readonly value?: T
  readonly error?: RequestError
}

export function createReader<T>(load: () => Promise<T>) {
  const state = createSignal<Reading<T>>({})
  let reading: Promise<T | undefined> | undefined
  let isAsked = false
  const read = async (): Promise<T | undefined> => {
    do {
      isAsked = false
      const error = await findRefusal(async () => (state.value = { value: await load() }))
      if (error) state.value = { ...state.value, error }
    } while (isAsked)
    // At once: who asks from now on, before the promise is settled, needs another read.
    reading = undefined
    return state.value.value
  }
  const reload = (): Promise<T | undefined> => {
    isAsked = true
    reading ??= read()
    return reading
  }
  return { state, reload }
}

/**
 * @param key another key is another value
 * @param concerns whether a hint is about the value; every hint where absent
 * @param stage another one reads again, and keeps what was read until then
 */
export function useResource<T>(
  key: string,
  load: () => Promise<T>,
  concerns: Concern = () => true,
  stage?: unknown,
): Resource<T> {
  const latest = useRef(load)
  latest.current = load
  const reader = useMemo(() => createReader(() => latest.current()), [key])
  const { value, error } = useSignal(reader.state)
  useEffect(() => void reader.reload(), [reader, stage])
  useEffect(
    () =>
      onHint((hint) => {
        if (concerns(hint)) void reader.reload()
      }),
    [reader],
  )
  return { value, error, reload: reader.reload }
}

/** What a route answers. */
export const useOperator = <R extends keyof OperatorRoutes>(
  route: R,
  given?: RouteArguments<R>,
  concerns?: Concern,
  stage?: unknown,
): Resource<OperatorRoutes[R]['answer']> =>
  useResource(`${route} ${JSON.stringify(given)}`, () => callOperator(route, given), concerns, stage)

type Concern = (hint: LiveHint) => boolean

/** For what does not change. */
export const aboutNothing = (): boolean => false

/** Hints about one session. */
export const aboutSession =
  (sessionId: () => string | undefined) =>
  ({ sessions }: LiveHint): boolean => {
    const id = sessionId()
    return sessions === 'any' || id === undefined || sessions.includes(id)
  }

export const aboutAnySession = ({ sessions }: LiveHint): boolean => sessions === 'any' || sessions.length > 0

export const aboutWorkspace = ({ workspace }: LiveHint): boolean => workspace
