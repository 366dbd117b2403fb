/** Packages that stay outside of the bundle of the program: native code, and what is large and loaded on first use. */
export const EXTERNAL = [
  'openai',
  '@anthropic-ai/sdk',
  '@google/genai',
  'nodemailer',
  '@aws-sdk/*',
  '@smithy/*',
  '@modelcontextprotocol/client',
  '@inquirer/prompts',
  'listhen',
  'jq-wasm',
  'pg',
  'graphile-worker',
]
