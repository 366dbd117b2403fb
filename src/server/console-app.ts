/**
 * The operator listener: the operator application for people who are signed in, and the page of the console. It has the
 * same routes at the same paths as the local channel; only the identification of callers differs. A browser that navigates
 * to a path gets the page. Source: docs/design/console.md#signing-in
 */
import type { NodeHandler } from './http/listen.ts'
import { checkConsoleRequest, isReachedSafely, type ListenerRules } from './console/address.ts'
import { listDecisionRoutes } from './console/decision-page.ts'
import { openConsolePage, PAGE_HEADERS } from './console/page.ts'
import { reportRoute } from './console/reports.ts'
import { listProviderRoutes } from './console/provider-sign-in.ts'
import { listSignInRoutes } from './console/sign-in.ts'
import { identifyVisitor } from './console/visitor.ts'
import { createOperatorApp } from './operator-app.ts'
import type { ServerServices } from './runtime/services.ts'

export function createConsoleApp(services: ServerServices, rules: ListenerRules): NodeHandler {
  const page = openConsolePage()
  const app = createOperatorApp(services, {
    channel: 'api',
    identify: identifyVisitor(rules),
    check: (call) => checkConsoleRequest(rules, call),
    routes: [
      ...listSignInRoutes(services, rules),
      ...listProviderRoutes(services, rules),
      reportRoute(services, rules),
      ...listDecisionRoutes(services),
    ],
  })
  return (request, response) => {
    for (const [name, value] of Object.entries(PAGE_HEADERS)) response.setHeader(name, value)
    // Shows no sign-in form over plain HTTP: the credential would be sent in clear text.
    if (!isReachedSafely(rules, request)) return app.handleNode(request, response)
    if (!page.serve(request, response)) return app.handleNode(request, response)
    return undefined
  }
}
