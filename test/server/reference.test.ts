/** GET /reference: the page of the HTTP API on the operator application. */
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { createOperatorApp } from '../../src/server/operator-app.ts'
import { writeReferencePage } from '../../src/server/operator/reference.ts'
import { openApi, operations } from '../api/document.ts'
import { openFixture } from './fixtures.ts'

async function readPage() {
  const response = await createOperatorApp(openFixture().services).fetch(new Request('http://svc.test/reference'))
  return { response, html: await response.text() }
}

test('shows every route and every body, and each link leads to one', async () => {
  const { response, html } = await readPage()
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  for (const [line, { operationId }] of operations) {
    expect(html).toContain(`<section id="${operationId}"><h3><code>${line}</code>`)
  }
  const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
  for (const name of Object.keys(openApi.components.schemas)) expect(ids).toContain(name)
  const links = [...html.matchAll(/<a href="([^"]*)"/g)].map(([, href]) => href!)
  expect(html).toContain('<summary>Example: The run waits for an approval</summary><pre>{\n  &quot;runId&quot;')
  expect(links.length).toBeGreaterThan(200)
  expect(links.filter((href) => !ids.has(href.slice(1)))).toEqual([])
})

test('asks nobody for anything: no script, no address, and a policy that allows its one style alone', async () => {
  const { response, html } = await readPage()
  expect(html).not.toMatch(/<script|<link|<img|<iframe|\bon\w+=|\bsrc=|url\(|@import/i)
  const style = /<style>([^]*?)<\/style>/.exec(html)![1]!
  const digest = createHash('sha256').update(style).digest('base64')
  expect(response.headers.get('content-security-policy')).toBe(
    `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  )
  expect(html.length).toBeLessThan(200_000)
})

test('texts of the document are texts of the page', () => {
  const html = writeReferencePage({
    info: { title: '<b>"&', description: '`a < b`' },
    paths: { '/<i>': { get: { operationId: 'x"y', summary: '<script>', responses: {} } } },
    components: { schemas: { 'A"><img': { type: 'string', description: '<img>' } } },
  })
  expect(html).not.toMatch(/<(?:b|i|script|img)>/)
  expect(html).toContain('<code>a &lt; b</code>')
  expect(html).toContain('id="A&quot;&gt;&lt;img"')
})
