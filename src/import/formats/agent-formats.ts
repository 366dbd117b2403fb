/** The formats of agents that can be imported, one row each. A new one is a folder that reads a source, and a row. */
import type { AgentSource, ForeignProject } from '../agents/foreign-project.ts'

export interface AgentFormat {
  readonly name: string
  readonly summary: string
  readonly source: string
  readonly example: string
  /** An option that names further files, for sources that are spread over several. */
  readonly more?: { readonly flags: string; readonly description: string; readonly name: string }
  readonly load: () => Promise<(source: AgentSource) => Promise<ForeignProject>>
}

export const AGENT_FORMATS: readonly AgentFormat[] = [
  {
    name: 'claude',
    summary: 'write Agent documents for Claude sub-agents and skills',
    source: 'a .claude folder, the folder around it, or one file: an agent, or a SKILL.md',
    example: 'svc import claude .claude',
    load: async () => (await import('./claude/read-claude.ts')).readClaude,
  },
  {
    name: 'docker-agent',
    summary: 'write Agent documents for the agents of Docker Agent (cagent)',
    source: 'its YAML file',
    example: 'svc import docker-agent team.yaml',
    load: async () => (await import('./docker-agent/read-docker-agent.ts')).readDockerAgent,
  },
  {
    name: 'agent-spec',
    summary: 'write Agent documents for the agents of an Agent Spec configuration',
    source: 'Agent Spec 25 or 26, JSON or YAML',
    example: 'svc import agent-spec assistant.yaml',
    more: {
      flags: '--component <file>',
      description: 'a file of components that the source refers to',
      name: 'component',
    },
    load: async () => (await import('./agent-spec/read-agent-spec.ts')).readAgentSpec,
  },
]
