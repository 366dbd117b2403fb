/** Tells the server's log what the page's own policy has stopped: nothing of the page ever should. */
import { findRefusal, sendOperatorRequest } from './request.ts'

export const reportViolations = (): void =>
  document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sourceFile, lineNumber }) => {
    const report = { directive: effectiveDirective, blocked: blockedURI, source: sourceFile, line: lineNumber }
    void findRefusal(() => sendOperatorRequest('POST', '/console/reports', report))
  })
