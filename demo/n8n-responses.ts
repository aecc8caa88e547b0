import { z } from 'zod/v4';

/* The parts of n8n's responses that the demo reads, and its errors. */

/** The envelope of every response of n8n. */
export const Envelope = z.object({ data: z.unknown() });
export const WithId = z.object({ id: z.string() });
export const Settings = z.object({
	userManagement: z.object({ showSetupOnFirstLoad: z.boolean() }),
});
export const CredentialRecord = WithId.extend({ name: z.string(), type: z.string() });
export const CredentialList = z.array(CredentialRecord);
export const DecryptedCredential = CredentialRecord.extend({
	data: z.record(z.string(), z.unknown()),
});
export const CredentialTest = z.object({ status: z.string(), message: z.string() });
export const WorkflowVersion = WithId.extend({ versionId: z.string() });
export const Publication = z.object({
	status: z.string(),
	triggers: z.array(z.object({ errorMessage: z.string().nullish() })),
});
export const Listening = z.object({ waitingForWebhook: z.literal(true) });
export const Stopped = z.object({ status: z.string() });
export const Started = z.object({ executionId: z.string() });
/** An execution, whose data is serialized by the package flatted. */
export const ExecutionRecord = z.object({ status: z.string(), data: z.string() });
export const ExecutionList = z.object({
	results: z.array(WithId),
	nextCursor: z.string().nullish(),
});

/** n8n responded to a request with an error. */
export class N8nRequestError extends Error {
	override name = 'N8nRequestError';
	readonly status: number;

	constructor(request: string, status: number, body: string) {
		super(`n8n responded to ${request} with ${status}: ${body}`);
		this.status = status;
	}
}
