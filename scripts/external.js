/**
 * Packages that stay outside of the bundle of the program: native code, what is large and loaded on first use, and what is installed in any
 * case, since a dependency has it.
 */
export const EXTERNAL = [
  'openai',
  '@anthropic-ai/sdk',
  '@google/genai',
  'nodemailer',
  '@opentelemetry/api',
  '@opentelemetry/exporter-*',
  '@opentelemetry/resources',
  '@aws-sdk/*',
  '@smithy/*',
  '@modelcontextprotocol/client',
  'listhen',
  'jose',
  'jq-wasm',
  'pg',
  'zod',
]
