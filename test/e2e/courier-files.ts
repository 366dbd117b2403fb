/** The documents of the project `courier`: an agent with a tool of every side-effect class, and a sub-agent. */

const tool = (name: string, sideEffectClass?: string, label = ''): string => `
apiVersion: svc/v1
kind: Tool
metadata: { name: ${name}, namespace: acme, version: 1.0.0, labels: { ${label} } }
spec: { description: Does ${name}., ${sideEffectClass === undefined ? '' : `side_effect_class: ${sideEffectClass}`} }
`

const agent = (name: string, rest: string): string => `
apiVersion: svc/v1
kind: Agent
metadata: { name: ${name}, namespace: acme, version: 1.0.0 }
spec:
  purpose: Delivers.
  instructions: { text: You deliver. }
  model: { provider: scripted, name: ${name}, provider_options: { script: ${name}.script.yaml } }
${rest}`

export const courierFiles = (classOfPost: string, url: string, timeout: string): Readonly<Record<string, string>> => ({
  'svc.config.yaml': `
workspace: courier
tools:
  acme.*: { http: { url: '${url}' }, timeout: ${timeout} }
`,
  'bundle.yaml': `
apiVersion: svc/v1
kind: Bundle
metadata: { name: courier, namespace: acme, version: 1.0.0 }
spec: { root: courier.yaml }
`,
  'look.yaml': tool('look', 'read_only'),
  'put.yaml': tool('put', 'idempotent_write'),
  'post.yaml': tool('post', classOfPost),
  'pay.yaml': tool('pay', 'irreversible_action', 'svc/probe: acme.find'),
  'find.yaml': `${tool('find', 'read_only').trimEnd().replace(/ \}$/, '')}
  , input_schema: { inline: { type: object, properties: { idempotency_key: { type: string } } } } }
`,
  'stamp.yaml': tool('stamp'),
  'courier.yaml': agent(
    'courier',
    `  tools:
    - ref: svc.ask_user@^1
    - ref: acme.look@^1
    - ref: acme.put@^1
    - ref: acme.post@^1
    - ref: acme.pay@^1
    - ref: acme.find@^1
  agents:
    - ref: helper.yaml
`,
  ),
  'helper.yaml': agent('helper', '  tools: [{ ref: acme.stamp@^1 }]\n'),
  // A run that a person started does all of it; one that a schedule started stops for nobody.
  'courier.script.yaml': `
- when: { input: { kind: whole } }
  call:
    - { tool: look, arguments: {} }
    - { tool: put, arguments: {} }
    - { tool: post, arguments: {} }
    - { tool: helper, arguments: { message: go } }
- when: { input: { kind: whole } }
  call: { tool: pay, arguments: {} }
- when: { input: { kind: whole } }
  call: { tool: ask_user, arguments: { message: Where to? } }
- when: { input: { kind: whole } }
  say: Delivered to \${results.ask_user}.
- call:
    - { tool: look, arguments: {} }
    - { tool: put, arguments: {} }
    - { tool: post, arguments: {} }
- say: Delivered.
`,
  'helper.script.yaml': `
- call: { tool: stamp, arguments: {} }
- say: Stamped.
`,
})
