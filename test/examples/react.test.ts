/** examples/client/react: the page in a browser, over backend.ts, against the real binary. */
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { buffer } from 'node:stream/consumers'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInBrowser, openPage } from '../console/browser.ts'
import { copyExample, deploy, endWithTests, serveHere } from '../e2e/binary.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const MOUNT = `
import { createElement } from 'react'
import { createRoot } from 'react-dom/client'
import { RefundPage } from './refund-page.tsx'
createRoot(document.body).render(createElement(RefundPage))
`

/** React, as its users have it, under the names of the smaller library that is here. */
const AS_REACT = {
  react: 'preact/compat',
  'react-dom/client': 'preact/compat/client',
  'react/jsx-runtime': 'preact/jsx-runtime',
}

describeInBrowser('the page of React', () => {
  let address = ''
  let end: () => Promise<void>

  beforeAll(async () => {
    const desk = copyExample('refund')
    const access = await deploy(desk, 'acme.refund-desk', {})
    const server = await serveHere(['--data', desk.data], { cwd: desk.directory })
    const env = {
      PATH: process.env['PATH'],
      SVC_URL: server.url,
      SVC_API_KEY: access.secret,
      SVC_AGENT: access.agentId,
      PORT: '0',
    }
    const backend = spawn(process.execPath, ['--import', 'tsx', join(ROOT, 'examples/client/backend.ts')], { env })
    endWithTests(backend)
    const url = await new Promise<string>((found) => createInterface({ input: backend.stdout }).once('line', found))
    const { outputFiles } = await build({
      stdin: { contents: MOUNT, resolveDir: join(ROOT, 'examples/client/react'), loader: 'ts' },
      bundle: true,
      write: false,
      format: 'esm',
      jsx: 'automatic',
      alias: AS_REACT,
    })
    const page = createServer(async (request, response) => {
      if (request.url === '/') response.setHeader('content-type', 'text/html').end(HTML)
      else if (request.url === '/page.js')
        response.setHeader('content-type', 'text/javascript').end(outputFiles[0]!.text)
      else {
        const body = request.method === 'POST' ? { method: 'POST', body: await buffer(request) } : {}
        const answer = await fetch(url + request.url, body)
        response.writeHead(answer.status).end(await answer.text())
      }
    })
    await new Promise<void>((done) => page.listen(0, '127.0.0.1', done))
    address = `http://127.0.0.1:${(page.address() as AddressInfo).port}`
    end = async () => {
      page.closeAllConnections()
      page.close()
      backend.kill('SIGTERM')
      await server.stop()
      desk.remove()
    }
  })
  afterAll(() => end())

  async function asked(order: string, amount: string) {
    const { page } = await openPage(address)
    await page.goto(address)
    await page.getByLabel('Order').fill(order)
    await page.getByLabel('Amount').fill(amount)
    await page.getByRole('button', { name: 'Ask for a refund' }).click()
    return page
  }

  test.each([
    ['Approve', 'A-7', '{"refunded":300,"currency":"EUR"}'],
    ['Reject', 'A-8', '{"refunded":0'],
  ])('%s decides what the agent asks, and the page shows what came of it', async (decision, order, output) => {
    const page = await asked(order, '300')
    await page.getByRole('status').getByText('WaitingForHITL').waitFor()
    expect(await page.getByRole('region', { name: 'Decision' }).getByRole('definition').allTextContents()).toEqual([
      order,
      '300',
      'EUR',
    ])
    await page.getByRole('button', { name: decision }).click()
    await page.getByText('Completed').waitFor()
    expect(await page.locator('output').textContent()).toContain(output)
    expect(await page.getByRole('region', { name: 'Decision' }).count()).toBe(0)
  })

  test('what needs nobody comes at once', async () => {
    const page = await asked('A-9', '50')
    await page.getByText('Completed').waitFor()
    expect(await page.locator('output').textContent()).toContain('"refunded":50')
  })
})

const HTML =
  '<!doctype html><html lang="en"><title>Refund</title><link rel="icon" href="data:,"><body></body><script type="module" src="/page.js"></script></html>'
