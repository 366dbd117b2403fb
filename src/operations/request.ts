/** A request to a route by its name, as the command line and the console send it. Loads no schema, for the browser. */
import type { OperatorRoutes } from './operations.ts'

export type RouteArguments<R extends keyof OperatorRoutes> = (OperatorRoutes[R] extends { readonly body: infer Body }
  ? { readonly body: Body }
  : { readonly body?: undefined }) & {
  /** Undefined parameters are left out. */
  readonly query?: OperatorRoutes[R] extends { readonly query: infer Query } ? QueryTexts<Query> : Record<string, never>
  /** For `:id` in the path. */
  readonly id?: string
}

/** Parameters as they travel. */
type QueryTexts<Query> = {
  readonly [K in keyof Query]: (Query[K] extends number | boolean | undefined ? string : Query[K]) | undefined
}

/** @returns the method, and the path with its query */
export function addressOf(
  route: keyof OperatorRoutes,
  given: { readonly id?: string; readonly query?: object },
): { readonly method: string; readonly path: string } {
  const [method, pattern] = route.split(' ') as [string, string]
  const query = Object.entries(given.query ?? {}).filter((pair): pair is [string, string] => pair[1] !== undefined)
  const path = pattern.replace(':id', encodeURIComponent(given.id ?? ''))
  return { method, path: query.length === 0 ? path : `${path}?${new URLSearchParams(query).toString()}` }
}
