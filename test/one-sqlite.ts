/**
 * `SVC_TEST_SQLITE` names the driver that the store uses, as `describeSqlite` does: the others then look as if they were not
 * installed. `test/store/drivers.test.ts` runs the contract of the store with each.
 */
import Module, { createRequire } from 'node:module'

const DRIVERS = ['better-sqlite3', 'node:sqlite', '@photostructure/sqlite']
const wanted = process.env['SVC_TEST_SQLITE']
/** For later versions of Node than the one that installed the checkout. */
const tools = createRequire(new URL('store/tools/package.json', import.meta.url))

type LoadModule = (request: string, ...rest: unknown[]) => unknown

if (wanted !== undefined) {
  const loader = Module as unknown as Record<'_load', LoadModule>
  const load = loader['_load'].bind(Module)
  loader['_load'] = (request, ...rest) => {
    const driver = DRIVERS.find((each) => request === each || request === `${each}/package.json`)
    if (driver !== undefined && driver !== wanted) throw new Error(`Cannot find module '${request}'`)
    const isOfTools = driver === 'better-sqlite3' && Number.parseInt(process.versions.node) >= 22
    return load(isOfTools ? tools.resolve(request) : request, ...rest)
  }
}
