/**
 * Which models take images, sounds and PDFs in results of tools, and in which forms. What a model does not take is never sent to it: its
 * vendor would refuse the whole request.
 */
import type { ProviderType } from '../spec/project/config.ts'
import type { MediaKind } from '../spec/tool-media.ts'

export interface VendorMedia {
  /** Where this is stated, and when that was last looked at. */
  readonly source: string
  readonly date: string
  /** Media types that the interface of the vendor carries. */
  readonly types: readonly string[]
  /** By names of models: the first that matches counts. Other models take none. */
  readonly models: readonly (readonly [RegExp, readonly MediaKind[]])[]
  /** Of an image, in pixels. */
  readonly longestEdge?: number
}

const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
const PDF = 'application/pdf'

/** One line a vendor, and one a family of models. */
const VENDOR_MEDIA: Readonly<Partial<Record<ProviderType, VendorMedia>>> = {
  anthropic: {
    source: 'platform.claude.com, "Images and vision" (types, 8000 px, 100 images), "PDF support"',
    date: '2026-11-28',
    types: [...IMAGES, PDF],
    models: [
      [/^claude-(?:instant|[12])/, []],
      [/^claude-3-(?:opus|sonnet|haiku)/, ['image']],
      [/^claude-/, ['image', 'pdf']],
    ],
    longestEdge: 8000,
  },
  bedrock: {
    source:
      'Converse API, "ToolResultContentBlock" (image: Nova and Claude 3 and later), "Message" (20 images of 3.75 MB, 8000 px)',
    date: '2026-11-28',
    types: [...IMAGES, PDF],
    models: [
      [/anthropic\.claude-(?:instant|v?[12])/, []],
      [/anthropic\.claude-3-(?:opus|sonnet|haiku)/, ['image']],
      [/anthropic\.claude-/, ['image', 'pdf']],
      [/amazon\.nova-(?:lite|pro|premier|2)/, ['image']],
    ],
    longestEdge: 8000,
  },
  openai: {
    source: 'developers.openai.com, "Images and vision", "File inputs"; types of openai 6 (function_call_output)',
    date: '2026-11-28',
    types: [...IMAGES, PDF],
    models: openaiModels(),
  },
  'azure-openai': {
    source: 'as OpenAI, where the deployment is named after its model',
    date: '2026-11-28',
    types: [...IMAGES, PDF],
    models: openaiModels(),
  },
  // A server of which nothing is known but its form.
  'openai-compatible': {
    source: 'OpenAI, "Create chat completion" (image_url, input_audio, file)',
    date: '2026-11-28',
    types: [...IMAGES, 'audio/wav', 'audio/mp3', PDF],
    models: [],
  },
  gemini: {
    source: 'ai.google.dev, "Image understanding", "Audio understanding", "Document understanding"; 20 MB a request',
    date: '2026-11-28',
    types: ['image/png', 'image/jpeg', 'image/webp', 'audio/wav', 'audio/mp3', 'audio/ogg', 'audio/flac', PDF],
    models: [[/^(?:models\/)?gemini-/, ['image', 'audio', 'pdf']]],
  },
}

function openaiModels(): VendorMedia['models'] {
  return [
    [/^(?:o1-(?:mini|preview)|o3-mini)/, []],
    [/^gpt-4-turbo/, ['image']],
    [/^(?:gpt-4o|chatgpt-4o|gpt-4\.[1-9]|gpt-[5-9]|o[1-9])/, ['image', 'pdf']],
  ]
}

/** What one model takes. */
export interface AcceptedMedia extends Pick<VendorMedia, 'types' | 'longestEdge'> {
  readonly kinds: readonly MediaKind[]
}

/** @param kinds those that the project file gives its provider, in place of those of the table */
export function acceptedMedia(
  type: ProviderType,
  model: string,
  kinds: readonly MediaKind[] | undefined,
): AcceptedMedia {
  const { types = [], longestEdge, models = [] } = VENDOR_MEDIA[type] ?? {}
  const known = models.find(([pattern]) => pattern.test(model))?.[1] ?? []
  return { types, kinds: kinds ?? known, ...(longestEdge !== undefined && { longestEdge }) }
}
