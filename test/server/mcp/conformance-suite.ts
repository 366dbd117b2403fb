/** The protocol's own tests (`@modelcontextprotocol/conformance`). They need a Node that has `globSync`, or Bun. */
import * as fs from 'node:fs'
import { join } from 'node:path'
import { MODULES } from '../../api/tools/installed.ts'

export const CONFORMANCE = join(
  import.meta.dirname,
  'conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js',
)

const bun = ['x64', 'aarch64']
  .map((arch) => join(MODULES, `@oven/bun-${process.platform}-${arch}/bin/bun`))
  .find((each) => fs.existsSync(each))

export const conformanceRuntime = 'globSync' in fs ? process.execPath : bun

export const isConformanceInstalled = fs.existsSync(CONFORMANCE) && conformanceRuntime !== undefined
