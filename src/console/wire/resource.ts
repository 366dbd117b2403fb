/** A value of the server that a screen shows, read again when a hint says that it may have changed. */
import { signal, type ReadonlySignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { LiveHint } from '../../spec/operator/inbox.ts'
import { onHint } from './live.ts'
import type { OperatorRoutes } from '../../spec/operator/routes.ts'
import { callOperator, findRefusal, type ConsoleRoute, type RequestError, type RouteInput } from './request.ts'

export interface Resource<T> {
  /** Undefined until it was read. Stays while a later read fails. */
  readonly value: ReadonlySignal<T | undefined>
  readonly error: ReadonlySignal<RequestError | undefined>
  /** Reads again. Calls meanwhile are one read more. */
  reload(): Promise<void>
}

function createResource<T>(load: () => Promise<T>): Resource<T> {
  const value = signal<T | undefined>(undefined)
  const error = signal<RequestError | undefined>(undefined)
  let reading: Promise<void> | undefined
  let isAsked = false
  const read = async (): Promise<void> => {
    do {
      isAsked = false
      error.value = await findRefusal(async () => (value.value = await load()))
    } while (isAsked)
  }
  return {
    value,
    error,
    reload() {
      isAsked = true
      reading ??= read().finally(() => (reading = undefined))
      return reading
    },
  }
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
  const resource = useMemo(() => createResource(() => latest.current()), [key])
  useEffect(() => void resource.reload(), [resource, stage])
  useEffect(
    () =>
      onHint((hint) => {
        if (concerns(hint)) void resource.reload()
      }),
    [resource],
  )
  return resource
}

/** What a route answers. */
export const useOperator = <R extends ConsoleRoute>(
  route: R,
  given?: RouteInput<R>,
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
