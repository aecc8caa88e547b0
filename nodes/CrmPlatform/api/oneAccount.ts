import { NodeOperationError, type IAllExecuteFunctions, type IDataObject, type IExecuteFunctions } from 'n8n-workflow';

/** Number of items that are always compared. Not all are, since n8n decrypts the credential again for each item. */
const alwaysCompared = 20;

/**
 * Refuses a credential whose expressions select different accounts for different items: all requests of an execution are
 * signed with the account of the first item.
 *
 * @throws NodeOperationError
 */
export async function refuseSeveralAccounts(n8n: IAllExecuteFunctions, type: string): Promise<void> {
	if (!('getInputData' in n8n)) return;
	const { length } = n8n.getInputData() as unknown[];
	if (length < 2) return;
	const accountFor = async (item: number) => await accountOf(n8n as IExecuteFunctions, type, item);
	const first = await accountFor(0);
	// Beyond the last item, an expression that depends on the item fails or returns something else.
	const isFixed = (await accountFor(length)) === first;
	const compared = isFixed ? Math.min(length, alwaysCompared) : length;
	for (let item = 1; item < compared; item += 1) {
		if ((await accountFor(item)) === first) continue;
		throw new NodeOperationError(n8n.getNode(), `The credential selects a different account for item ${item} than for item 0, so nothing was sent`, {
			description: 'Its fields are expressions, but one run of the node can only use one account. Run the node once per account, for example with Loop Over Items.',
			itemIndex: item,
		});
	}
}

/** The fields that the user fills in, without the token, which may be renewed at any time; undefined if they are unreadable. */
async function accountOf(n8n: IExecuteFunctions, type: string, item: number): Promise<string | undefined> {
	const reading = n8n.getCredentials<IDataObject>(type, item);
	return await reading.then(({ oauthTokenData: _, ...fields }) => JSON.stringify(fields), () => undefined);
}
