import type { ILoadOptionsFunctions, INodeListSearchResult, INodePropertyOptions, ResourceMapperFields } from 'n8n-workflow';

import { NothingToOffer } from './editorContext';
import * as filterPickers from './filterPickers';
import * as listOptions from './listOptions';
import * as mapperFields from './mapperFields';
import * as searchPickers from './searchPickers';
import { testCredential } from './testCredential';

/**
 * The functions that fill lists and mappers, as n8n calls them: with the open node as `this`.
 *
 * @param offerInstead says what to choose first, where n8n would show an error without a reason
 */
function methodsOf<Offer, Typed extends string[] = []>(
	pickers: Record<string, (n8n: ILoadOptionsFunctions, ...typed: Partial<Typed>) => Promise<Offer>>,
	offerInstead?: (reason: string) => Offer,
): Record<string, (this: ILoadOptionsFunctions, ...typed: Partial<Typed>) => Promise<Offer>> {
	return Object.fromEntries(Object.entries(pickers).map(([name, pick]) => [name, async function (...typed) {
		return await pick(this, ...typed).catch((error: Error) => {
			if (!offerInstead || !(error instanceof NothingToOffer)) throw error;
			return offerInstead(error.message);
		});
	}]));
}

/** What n8n calls while a node is open in the editor. Every node has all of it, and its parameters name what they need. */
export const editorMethods = {
	credentialTest: { testCredential },
	listSearch: methodsOf<INodeListSearchResult, [filter: string, cursor: string]>(searchPickers),
	loadOptions: methodsOf<INodePropertyOptions[]>({ ...filterPickers, ...listOptions }, (reason) => [{ name: reason, value: '' }]),
	resourceMapping: methodsOf<ResourceMapperFields>(mapperFields, (reason) => ({ fields: [], emptyFieldsNotice: reason })),
};
