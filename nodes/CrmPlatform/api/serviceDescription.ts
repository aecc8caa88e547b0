import { NodeOperationError, type IAllExecuteFunctions } from 'n8n-workflow';

import type { Clock } from '../base/clock';
import { withoutSecrets } from './http/secrets';
import { describeResource, type ResourceDescription } from './openapi/description';
import { loadDocument, type DocumentSource, type LoadedDocument } from './openapi/document';
import { readEventCatalog, type EventCatalog } from './openapi/eventTypes';
import { idempotencyHeaderAt, type IdempotencyHeader } from './openapi/writing';
import type { OpenApiDocument } from './openapi/openapi';
import { wrongBaseUrl } from './openapi/paths';
import { leftOutOf } from './openapi/openapi';

/** The service's description of itself. Its document is loaded on first use. */
export interface ServiceDescription {
	/** What the service offers for the records at `path` (`/contacts`); undefined if it does not describe that path. */
	describe(path: string): Promise<ResourceDescription | undefined>;
	/** How the operation at a path takes idempotency keys; undefined if the service does not describe it. */
	idempotencyHeaderAt(method: string, path: string): Promise<IdempotencyHeader | undefined>;
	/** Which events the service reports. */
	describeEvents(): Promise<EventCatalog>;
	/** Whether the description is the service's own, not the packaged one; true before it is loaded. */
	isSelfDescribed(): boolean;
	/** @throws Error in the user's words if `feature` needs the service's own description, which could not be read */
	requireDescription(feature: string): void;
	/** Notice for the user if the description could not be read, or only in part. */
	descriptionNotice(): string | undefined;
}

/** @param onLoaded called each time the document is used */
export function openDescription(
	n8n: IAllExecuteFunctions,
	source: DocumentSource,
	{ clock, secrets, onLoaded }: { clock: Clock; secrets: string[]; onLoaded(): void },
): ServiceDescription {
	let loading: Promise<LoadedDocument> | undefined;
	let loaded: LoadedDocument | undefined;
	const readDocument = async (): Promise<OpenApiDocument> => {
		loading ??= loadDocument(source, clock);
		loaded = await loading;
		onLoaded();
		return loaded.document;
	};
	return {
		async describe(path) {
			const document = await readDocument();
			const wrong = wrongBaseUrl(document, path, source.address, source.url);
			if (wrong !== undefined) throw new NodeOperationError(n8n.getNode(), wrong);
			return describeResource(document, path);
		},
		idempotencyHeaderAt: async (method, path) => idempotencyHeaderAt(await readDocument(), method, path),
		describeEvents: async () => readEventCatalog(await readDocument()),
		isSelfDescribed: () => loaded?.isPackaged !== true,
		requireDescription(feature) {
			if (loaded?.whyUnread !== undefined) throw new Error(`${feature}: ${withoutSecrets(loaded.whyUnread, secrets)}`);
		},
		descriptionNotice() {
			// Parts of a description are read on demand, so a later call may report more omissions.
			const notice = loaded && (loaded.notice ?? leftOutOf(loaded.document));
			return notice && withoutSecrets(notice, secrets);
		},
	};
}
