/** All lint rules, in the order of the reference page. A rule's path is its id. */
import type { LintRule } from '../facts/rule.ts'
import { agentClassificationUnused } from './agent/classification-unused.ts'
import { agentInstructionsEmpty } from './agent/instructions-empty.ts'
import { agentInstructionsMissingFile } from './agent/instructions-missing-file.ts'
import { agentInstructionsPlaceholder } from './agent/instructions-placeholder.ts'
import { agentInstructionsVersionAmbiguous } from './agent/instructions-version-ambiguous.ts'
import { agentNeedsBundle } from './agent/needs-bundle.ts'
import { agentNoToolsButPolicies } from './agent/no-tools-but-policies.ts'
import { agentOwnerMissing } from './agent/owner-missing.ts'
import { agentPurposeAsPrompt } from './agent/purpose-as-prompt.ts'
import { agentRiskTierMismatch } from './agent/risk-tier-mismatch.ts'
import { approvalCountRange } from './approval/count-range.ts'
import { approvalFieldsIgnored } from './approval/fields-ignored.ts'
import { approvalHiddenTimeline } from './approval/hidden-timeline.ts'
import { approvalModifyAccept } from './approval/modify-accept.ts'
import { approvalNoTimeout } from './approval/no-timeout.ts'
import { approvalOnModifyValue } from './approval/on-modify-value.ts'
import { approvalOnRejectValue } from './approval/on-reject-value.ts'
import { approvalQuorumUnreachable } from './approval/quorum-unreachable.ts'
import { approvalReasonMissing } from './approval/reason-missing.ts'
import { approvalTimeoutAllowIrreversible } from './approval/timeout-allow-irreversible.ts'
import { approvalTimeoutAllow } from './approval/timeout-allow.ts'
import { approvalTimeoutRange } from './approval/timeout-range.ts'
import { authorityAllAllow } from './authority/all-allow.ts'
import { authorityDuplicate } from './authority/duplicate.ts'
import { authorityIneffective } from './authority/ineffective.ts'
import { authorityLoosened } from './authority/loosened.ts'
import { authorityOrphanRef } from './authority/orphan-ref.ts'
import { authorityUnresolved } from './authority/unresolved.ts'
import { bundleCaseCollision } from './bundle/case-collision.ts'
import { bundleExternalUnpinned } from './bundle/external-unpinned.ts'
import { bundleLockDrift } from './bundle/lock-drift.ts'
import { bundleLockMissing } from './bundle/lock-missing.ts'
import { bundlePathEscape } from './bundle/path-escape.ts'
import { bundleRootMissing } from './bundle/root-missing.ts'
import { bundleSecretFile } from './bundle/secret-file.ts'
import { bundleSymlink } from './bundle/symlink.ts'
import { bundleUnreferencedFile } from './bundle/unreferenced-file.ts'
import { bundleYanked } from './bundle/yanked.ts'
import { docAnchorAcrossPolicy } from './doc/anchor-across-policy.ts'
import { docApiVersion } from './doc/api-version.ts'
import { docBom } from './doc/bom.ts'
import { docDuplicateKey } from './doc/duplicate-key.ts'
import { docKindUnknown } from './doc/kind-unknown.ts'
import { docMisplacedKey } from './doc/misplaced-key.ts'
import { docMultipleDocuments } from './doc/multiple-documents.ts'
import { docNotUtf8 } from './doc/not-utf8.ts'
import { docNumberRange } from './doc/number-range.ts'
import { docSchema } from './doc/schema.ts'
import { docSyntax } from './doc/syntax.ts'
import { docTooLarge } from './doc/too-large.ts'
import { docUnknownKey } from './doc/unknown-key.ts'
import { docUnquotedScalar } from './doc/unquoted-scalar.ts'
import { docVersionWithoutRef } from './doc/version-without-ref.ts'
import { docYaml11Boolean } from './doc/yaml11-boolean.ts'
import { idConfusable } from './id/confusable.ts'
import { idDuplicate } from './id/duplicate.ts'
import { idFileName } from './id/file-name.ts'
import { idInvalidSemver } from './id/invalid-semver.ts'
import { idUnaddressable } from './id/unaddressable.ts'
import { idVersionReused } from './id/version-reused.ts'
import { limitsChildExceedsParent } from './limits/child-exceeds-parent.ts'
import { limitsCostCap } from './limits/cost-cap.ts'
import { limitsDepthExceeded } from './limits/depth-exceeded.ts'
import { limitsEscalateNobody } from './limits/escalate-nobody.ts'
import { limitsHitlShorterThanTimeout } from './limits/hitl-shorter-than-timeout.ts'
import { limitsMissingLoop } from './limits/missing-loop.ts'
import { limitsMissingTokens } from './limits/missing-tokens.ts'
import { limitsNonPositive } from './limits/non-positive.ts'
import { limitsPriceUnknown } from './limits/price-unknown.ts'
import { lintSuppressionWithoutReason } from './lint/suppression-without-reason.ts'
import { lintUnknownRule } from './lint/unknown-rule.ts'
import { lintUnusedSuppression } from './lint/unused-suppression.ts'
import { mcpDescriptionChanged } from './mcp/description-changed.ts'
import { mcpHeaderIgnored } from './mcp/header-ignored.ts'
import { mcpHeaderInvalid } from './mcp/header-invalid.ts'
import { mcpHintConflict } from './mcp/hint-conflict.ts'
import { mcpNoAuth } from './mcp/no-auth.ts'
import { mcpNoContract } from './mcp/no-contract.ts'
import { mcpNotPinned } from './mcp/not-pinned.ts'
import { mcpServerDuplicate } from './mcp/server-duplicate.ts'
import { mcpServerUndeclared } from './mcp/server-undeclared.ts'
import { mcpServerUnused } from './mcp/server-unused.ts'
import { mcpUrlInternal } from './mcp/url-internal.ts'
import { mcpUrlNotHttps } from './mcp/url-not-https.ts'
import { modelBaseUrlFullPath } from './model/base-url-full-path.ts'
import { modelBaseUrlInsecure } from './model/base-url-insecure.ts'
import { modelBaseUrlInvalid } from './model/base-url-invalid.ts'
import { modelFallback } from './model/fallback.ts'
import { modelOptionsSecret } from './model/options-secret.ts'
import { modelOptionsShadow } from './model/options-shadow.ts'
import { modelOutputExceedsRun } from './model/output-exceeds-run.ts'
import { modelParameterRange } from './model/parameter-range.ts'
import { modelProviderTypo } from './model/provider-typo.ts'
import { modelSecretImplicitMissing } from './model/secret-implicit-missing.ts'
import { modelSecretUndeclared } from './model/secret-undeclared.ts'
import { modelStopEmpty } from './model/stop-empty.ts'
import { outputEscalateUnhandled } from './output/escalate-unhandled.ts'
import { outputOnInvalidWithoutSchema } from './output/on-invalid-without-schema.ts'
import { outputSchemaWithoutJson } from './output/schema-without-json.ts'
import { outputStrictMissing } from './output/strict-missing.ts'
import { outputStrictWithoutSchema } from './output/strict-without-schema.ts'
import { policyAllowEverything } from './policy/allow-everything.ts'
import { policyAllowListAmbiguous } from './policy/allow-list-ambiguous.ts'
import { policyAllowValueImpossible } from './policy/allow-value-impossible.ts'
import { policyAllowWithoutType } from './policy/allow-without-type.ts'
import { policyAlwaysTrue } from './policy/always-true.ts'
import { policyAttachmentDuplicate } from './policy/attachment-duplicate.ts'
import { policyAttachmentMissing } from './policy/attachment-missing.ts'
import { policyAuthorityRefAuth } from './policy/authority-ref-auth.ts'
import { policyBlockAlias } from './policy/block-alias.ts'
import { policyCaseSensitiveEmail } from './policy/case-sensitive-email.ts'
import { policyConditionField } from './policy/condition-field.ts'
import { policyConditionSyntax } from './policy/condition-syntax.ts'
import { policyContradiction } from './policy/contradiction.ts'
import { policyCost } from './policy/cost.ts'
import { policyEffectWithoutKey } from './policy/effect-without-key.ts'
import { policyFailOpenIfMissing } from './policy/fail-open-if-missing.ts'
import { policyFieldNotInSchema } from './policy/field-not-in-schema.ts'
import { policyNeverTrue } from './policy/never-true.ts'
import { policyNoDecision } from './policy/no-decision.ts'
import { policyOptionalField } from './policy/optional-field.ts'
import { policyPatternInvalid } from './policy/pattern-invalid.ts'
import { policyPatternUnanchored } from './policy/pattern-unanchored.ts'
import { policyPrefixUrl } from './policy/prefix-url.ts'
import { policyRedundantLeaf } from './policy/redundant-leaf.ts'
import { policyRuntimePrefix } from './policy/runtime-prefix.ts'
import { policyScopeMismatch } from './policy/scope-mismatch.ts'
import { policyScopeSyntax } from './policy/scope-syntax.ts'
import { policyScopeUnknownTool } from './policy/scope-unknown-tool.ts'
import { policyShadowed } from './policy/shadowed.ts'
import { policySourceUnattributable } from './policy/source-unattributable.ts'
import { policySubstringList } from './policy/substring-list.ts'
import { policyTypeMismatch } from './policy/type-mismatch.ts'
import { policyUnreachableApproval } from './policy/unreachable-approval.ts'
import { policyUntested } from './policy/untested.ts'
import { policyUnusedDocument } from './policy/unused-document.ts'
import { schemaDefaultInvalid } from './schema/default-invalid.ts'
import { schemaEmptyRange } from './schema/empty-range.ts'
import { schemaInvalid } from './schema/invalid.ts'
import { schemaNotObject } from './schema/not-object.ts'
import { schemaNumberForMoney } from './schema/number-for-money.ts'
import { schemaOpenObject } from './schema/open-object.ts'
import { schemaPrototypeName } from './schema/prototype-name.ts'
import { schemaRefLoop } from './schema/ref-loop.ts'
import { schemaRefMissing } from './schema/ref-missing.ts'
import { schemaRemoteRef } from './schema/remote-ref.ts'
import { schemaRequiredUndefined } from './schema/required-undefined.ts'
import { schemaUnboundedString } from './schema/unbounded-string.ts'
import { schemaUnsafePattern } from './schema/unsafe-pattern.ts'
import { schemaUnsupportedKeyword } from './schema/unsupported-keyword.ts'
import { secretConflict } from './secret/conflict.ts'
import { secretEnvMissing } from './secret/env-missing.ts'
import { secretEnvName } from './secret/env-name.ts'
import { secretInUrl } from './secret/in-url.ts'
import { secretLiteral } from './secret/literal.ts'
import { secretOwnApiKey } from './secret/own-api-key.ts'
import { secretUndeclared } from './secret/undeclared.ts'
import { secretUnused } from './secret/unused.ts'
import { secretValueInFromEnv } from './secret/value-in-from-env.ts'
import { securityBlanketAllowIrreversible } from './security/blanket-allow-irreversible.ts'
import { securityDataUriImage } from './security/data-uri-image.ts'
import { securityDescriptionInstructsOtherTool } from './security/description-instructs-other-tool.ts'
import { securityExecTool } from './security/exec-tool.ts'
import { securityHiddenUnicode } from './security/hidden-unicode.ts'
import { securityInjectionPhrase } from './security/injection-phrase.ts'
import { securityIrreversibleWithoutApproval } from './security/irreversible-without-approval.ts'
import { securityLethalTrifecta } from './security/lethal-trifecta.ts'
import { securityMixedScript } from './security/mixed-script.ts'
import { securityPrivateResultFull } from './security/private-result-full.ts'
import { securitySecretInArgs } from './security/secret-in-args.ts'
import { securitySelfApproval } from './security/self-approval.ts'
import { securityUntrustedSteersWrite } from './security/untrusted-steers-write.ts'
import { securityUrlArgumentOpen } from './security/url-argument-open.ts'
import { securityWriteWithoutApproval } from './security/write-without-approval.ts'
import { subagentCycle } from './subagent/cycle.ts'
import { subagentDescriptionMissing } from './subagent/description-missing.ts'
import { subagentFullTrace } from './subagent/full-trace.ts'
import { subagentInputMismatch } from './subagent/input-mismatch.ts'
import { subagentLateBoundAuthority } from './subagent/late-bound-authority.ts'
import { subagentMissing } from './subagent/missing.ts'
import { subagentRange } from './subagent/range.ts'
import { subagentRefForm } from './subagent/ref-form.ts'
import { subagentVersionConflict } from './subagent/version-conflict.ts'
import { subagentWidensAuthority } from './subagent/widens-authority.ts'
import { toolClassLowered } from './tool/class-lowered.ts'
import { toolClassMissing } from './tool/class-missing.ts'
import { toolClassSuspicious } from './tool/class-suspicious.ts'
import { toolDescriptionDrift } from './tool/description-drift.ts'
import { toolDescriptionMissing } from './tool/description-missing.ts'
import { toolDuplicateBinding } from './tool/duplicate-binding.ts'
import { toolEffectKeyConstant } from './tool/effect-key-constant.ts'
import { toolEffectKeyInvalid } from './tool/effect-key-invalid.ts'
import { toolEffectKeyMissing } from './tool/effect-key-missing.ts'
import { toolEffectKeyShared } from './tool/effect-key-shared.ts'
import { toolEffectKeyUnstable } from './tool/effect-key-unstable.ts'
import { toolIdempotencyKey } from './tool/idempotency-key.ts'
import { toolInputWidened } from './tool/input-widened.ts'
import { toolNoInputSchema } from './tool/no-input-schema.ts'
import { toolPrerelease } from './tool/prerelease.ts'
import { toolProbeUnusable } from './tool/probe-unusable.ts'
import { toolRangeInvalid } from './tool/range-invalid.ts'
import { toolRangeTooWide } from './tool/range-too-wide.ts'
import { toolRefSyntax } from './tool/ref-syntax.ts'
import { toolTooMany } from './tool/too-many.ts'
import { toolUnpinned } from './tool/unpinned.ts'
import { toolUnresolved } from './tool/unresolved.ts'
import { toolUnusedDocument } from './tool/unused-document.ts'
import { toolWireNameCollision } from './tool/wire-name-collision.ts'
import { toolWireNameInvalid } from './tool/wire-name-invalid.ts'
import { toolWireNameShadow } from './tool/wire-name-shadow.ts'

export const rules: readonly LintRule[] = [
  docSyntax,
  docDuplicateKey,
  docKindUnknown,
  docApiVersion,
  docSchema,
  docUnknownKey,
  docMisplacedKey,
  docUnquotedScalar,
  docNumberRange,
  docTooLarge,
  docNotUtf8,
  docBom,
  lintUnusedSuppression,
  lintSuppressionWithoutReason,
  lintUnknownRule,
  docMultipleDocuments,
  docYaml11Boolean,
  docAnchorAcrossPolicy,
  docVersionWithoutRef,
  idInvalidSemver,
  idUnaddressable,
  idDuplicate,
  idVersionReused,
  idFileName,
  idConfusable,
  agentPurposeAsPrompt,
  agentInstructionsMissingFile,
  agentInstructionsEmpty,
  agentInstructionsPlaceholder,
  agentInstructionsVersionAmbiguous,
  agentNeedsBundle,
  agentNoToolsButPolicies,
  agentOwnerMissing,
  agentRiskTierMismatch,
  agentClassificationUnused,
  modelBaseUrlInvalid,
  modelBaseUrlInsecure,
  modelBaseUrlFullPath,
  modelSecretUndeclared,
  modelSecretImplicitMissing,
  modelProviderTypo,
  modelFallback,
  modelParameterRange,
  modelOutputExceedsRun,
  modelOptionsShadow,
  modelOptionsSecret,
  modelStopEmpty,
  secretLiteral,
  secretValueInFromEnv,
  secretEnvName,
  secretUnused,
  secretUndeclared,
  secretEnvMissing,
  secretConflict,
  secretInUrl,
  secretOwnApiKey,
  limitsNonPositive,
  limitsMissingLoop,
  limitsMissingTokens,
  limitsHitlShorterThanTimeout,
  limitsEscalateNobody,
  limitsChildExceedsParent,
  limitsDepthExceeded,
  limitsCostCap,
  limitsPriceUnknown,
  outputSchemaWithoutJson,
  outputStrictWithoutSchema,
  outputOnInvalidWithoutSchema,
  outputStrictMissing,
  outputEscalateUnhandled,
  schemaRefMissing,
  schemaInvalid,
  schemaUnsupportedKeyword,
  schemaRemoteRef,
  schemaNotObject,
  schemaRequiredUndefined,
  schemaOpenObject,
  schemaUnboundedString,
  schemaUnsafePattern,
  schemaRefLoop,
  schemaEmptyRange,
  schemaDefaultInvalid,
  schemaPrototypeName,
  schemaNumberForMoney,
  toolRefSyntax,
  toolRangeInvalid,
  toolUnresolved,
  toolUnpinned,
  toolRangeTooWide,
  toolPrerelease,
  toolDuplicateBinding,
  toolWireNameInvalid,
  toolWireNameCollision,
  toolWireNameShadow,
  toolDescriptionMissing,
  toolDescriptionDrift,
  toolClassMissing,
  toolClassLowered,
  toolClassSuspicious,
  toolInputWidened,
  toolNoInputSchema,
  toolIdempotencyKey,
  toolEffectKeyMissing,
  toolEffectKeyUnstable,
  toolEffectKeyConstant,
  toolEffectKeyInvalid,
  toolEffectKeyShared,
  toolProbeUnusable,
  toolTooMany,
  toolUnusedDocument,
  mcpServerUndeclared,
  mcpServerDuplicate,
  mcpServerUnused,
  mcpUrlNotHttps,
  mcpUrlInternal,
  mcpHeaderIgnored,
  mcpHeaderInvalid,
  mcpNoAuth,
  mcpNoContract,
  mcpNotPinned,
  mcpDescriptionChanged,
  mcpHintConflict,
  subagentRefForm,
  subagentMissing,
  subagentCycle,
  subagentVersionConflict,
  subagentRange,
  subagentLateBoundAuthority,
  subagentDescriptionMissing,
  subagentWidensAuthority,
  subagentFullTrace,
  subagentInputMismatch,
  policyNoDecision,
  policyAttachmentMissing,
  policyAttachmentDuplicate,
  policyScopeSyntax,
  policyScopeMismatch,
  policyScopeUnknownTool,
  policyConditionSyntax,
  policyConditionField,
  policyFieldNotInSchema,
  policyTypeMismatch,
  policyPatternInvalid,
  policyPatternUnanchored,
  policyPrefixUrl,
  policySubstringList,
  policyCaseSensitiveEmail,
  policyOptionalField,
  policyEffectWithoutKey,
  policySourceUnattributable,
  policyFailOpenIfMissing,
  policyNeverTrue,
  policyAlwaysTrue,
  policyContradiction,
  policyRedundantLeaf,
  policyShadowed,
  policyUnreachableApproval,
  policyAllowWithoutType,
  policyAllowListAmbiguous,
  policyAllowValueImpossible,
  policyAllowEverything,
  policyAuthorityRefAuth,
  policyBlockAlias,
  policyRuntimePrefix,
  policyCost,
  policyUntested,
  policyUnusedDocument,
  approvalCountRange,
  approvalQuorumUnreachable,
  approvalTimeoutAllowIrreversible,
  approvalTimeoutAllow,
  approvalTimeoutRange,
  approvalNoTimeout,
  approvalOnRejectValue,
  approvalOnModifyValue,
  approvalModifyAccept,
  approvalFieldsIgnored,
  approvalHiddenTimeline,
  approvalReasonMissing,
  authorityUnresolved,
  authorityOrphanRef,
  authorityDuplicate,
  authorityIneffective,
  authorityAllAllow,
  authorityLoosened,
  bundleRootMissing,
  bundlePathEscape,
  bundleSymlink,
  bundleCaseCollision,
  bundleUnreferencedFile,
  bundleLockMissing,
  bundleLockDrift,
  bundleYanked,
  bundleExternalUnpinned,
  bundleSecretFile,
  securityLethalTrifecta,
  securityIrreversibleWithoutApproval,
  securityWriteWithoutApproval,
  securityBlanketAllowIrreversible,
  securityUntrustedSteersWrite,
  securityHiddenUnicode,
  securityMixedScript,
  securityInjectionPhrase,
  securityDescriptionInstructsOtherTool,
  securityExecTool,
  securityUrlArgumentOpen,
  securitySecretInArgs,
  securityDataUriImage,
  securityPrivateResultFull,
  securitySelfApproval,
]
