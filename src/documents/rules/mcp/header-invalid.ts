import type { LintRule } from '../../facts/rule.ts'

export const mcpHeaderInvalid: LintRule = {
  severity: 'error',
  law: 'The header for a credential is a valid HTTP token and not one that controls the connection.',
  fix: 'Name the header that the server asks for, such as X-Api-Key.',
  source: 'Authoring format, "MCP server entry": `header`; RFC 9110, sections 5.1 and 7.6.1',
  kinds: ['Agent'],
  check(document, report) {
    for (const { value, pointer } of document.texts('spec.mcp_servers.*.auth.header')) {
      if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(value)) report(pointer, `"${value}" is not a header name.`)
      else if (STEERING.has(value.toLowerCase())) report(pointer, `The header ${value} is not for credentials.`)
    }
  },
}

const STEERING = new Set(
  'host content-length content-type content-encoding cookie connection keep-alive proxy-connection proxy-authenticate te trailer transfer-encoding upgrade accept mcp-session-id mcp-protocol-version'.split(
    ' ',
  ),
)
