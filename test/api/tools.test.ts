/** The OpenAPI document and the client package in the checkers of others: see tools/installed.ts. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json/json.ts'
import { operatorDocument } from '../../src/operations/operator-document.ts'
import { openApi } from './document.ts'
import { execute, hasTools, ROOT, toolPath } from './tools/installed.ts'
import { removeDirectory } from '../remove-directory.ts'

const home = mkdtempSync(join(tmpdir(), 'svc-openapi-'))
afterAll(() => removeDirectory(home))
const tool = (name: string, ...args: string[]) => execute(toolPath(name), args, { cwd: home })

describe.skipIf(!hasTools)('with npm install --prefix test/api/tools --ignore-scripts --no-package-lock', () => {
  beforeAll(() => {
    writeFileSync(join(home, 'openapi.json'), JSON.stringify(openApi))
    writeFileSync(join(home, 'operator.json'), JSON.stringify(operatorDocument(openApi as unknown as JsonObject)))
    writeFileSync(join(home, '.spectral.yaml'), 'extends: ["spectral:oas"]\n')
  })

  test.each(['openapi.json', 'operator.json'])('Redocly finds nothing in %s', async (file) => {
    const { status, output } = await tool('redocly', 'lint', file)
    expect({ status, output }).toEqual({
      status: 0,
      output: expect.not.stringMatching(/\d (?:warning|error)/) as unknown,
    })
  })

  test('Spectral finds nothing', async () => {
    const { output } = await tool('spectral', 'lint', 'openapi.json', '-r', '.spectral.yaml', '--fail-severity', 'hint')
    expect(output).toContain('No results with a severity of')
  })

  test('the declarations of the client resolve in every mode that knows modules', async () => {
    const { status, output } = await tool('attw', '--pack', join(ROOT, 'clients/typescript'), '--profile', 'esm-only')
    expect({ status, output }).toEqual({ status: 0, output: expect.stringContaining('(ESM)') as unknown })
  })
})
