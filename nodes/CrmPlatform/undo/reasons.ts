export type UndoResult = 'undone' | 'already_so' | 'conflict' | 'cannot_be_undone';

/** Why a record is not undone, or not in full. A text may name a record or fields, in place of `{}`. */
const reasons = {
	missingLinks: ['undone', '{}: a linked record no longer exists, or is not visible to the credential.'],

	alreadyGone: ['already_so', 'The record is already gone, or not visible to the credential.'],
	hasValues: ['already_so', 'The record already has its previous values.'],
	createdAgain: ['already_so', 'It was created again as {}.'],

	hasOtherValues: ['conflict', 'Its values differ from those before the changes, and were kept.'],
	createdTwice: ['conflict', 'Another undo created it too, as {}. Merge the two.'],
	goneAgain: ['conflict', 'It was created again as {}, which has been deleted since.'],
	existsAgain: ['conflict', 'The record was deleted, but exists again.'],
	changedAfterRead: ['conflict', '{}'],
	deletedSince: ['conflict', 'Someone else, or another execution, has deleted the record since.'],
	invisible: ['conflict', 'The CRM does not return this record: it is not visible to the credential, or erased.'],
	recreationKept: ['conflict', 'The changes to undo created this record. It was deleted, and created again as {}, which was not deleted.'],
	changedSince: ['conflict', 'The changes to undo created this record, and someone else, or another execution, has changed it since. It was not deleted.'],
	linkedSince: ['conflict', 'The changes to undo created this record, and it is still linked from other records. It was not deleted.'],
	maybeLinked: ['conflict', 'The changes to undo created this record, and records that you cannot see may link to it. It was not deleted. To delete it, undo with an API key, or turn on Undo Takes Precedence.'],
	fieldsChangedSince: ['conflict', 'Someone else, or another execution, has since changed {}. The current values were kept.'],
	fieldsTied: ['conflict', '{}: kept, because the CRM changes it together with a field that has changed since or that was kept.'],
	missingInList: ['conflict', '{}: kept, because the list that must contain the previous value does not.'],

	sentMessage: ['cannot_be_undone', 'Messages cannot be taken back.'],
	setupChange: ['cannot_be_undone', 'Changes to the setup of an account must be undone by hand.'],
	notUnderstood: ['cannot_be_undone', 'The CRM reports {}, which the node does not understand.'],
	notCreated: ['cannot_be_undone', 'The CRM reports it as created, but it existed before, and only became visible to this credential. Undo it with a credential that sees all records.'],
	erasedSince: ['cannot_be_undone', 'The record was deleted permanently, and its values with it.'],
	madeAnonymous: ['cannot_be_undone', 'An erasure of a person has made this record anonymous. Its earlier texts may name the person.'],
	setByService: ['cannot_be_undone', 'Only fields that the CRM sets were changed: {}.'],
	maybeNotDeleted: ['cannot_be_undone', 'The CRM does not show that the record was deleted: it may only be invisible to the credential.'],
	unmarkable: ['cannot_be_undone', 'The CRM’s idempotency keys have no room to mark a re-created record, so a second undo would create it twice.'],
	requiredLink: ['cannot_be_undone', 'The CRM requires this link, so the record was not created again.'],
	displaced: ['cannot_be_undone', 'The CRM would have put the record elsewhere, so it was not created again.'],
	refused: ['cannot_be_undone', '{}'],
	valuesRefused: ['cannot_be_undone', 'The CRM refused {}; the other values were restored.'],
	valueTaken: ['cannot_be_undone', 'Another record now has one of the previous values, which must be unique.'],
	storedOtherwise: ['cannot_be_undone', 'The CRM stored other values than the previous ones in {}. Check the record.'],
} satisfies Record<string, [UndoResult, string]>;

/** What an output says of a record. */
export type Explanation = { result: UndoResult; reason: string };

/** @param detail what the text names in place of `{}` */
export function explain(name: keyof typeof reasons, detail = ''): Explanation {
	const [result, text] = reasons[name] as [UndoResult, string];
	return { result, reason: text.replace('{}', () => detail) };
}

export const sentences = (...texts: Array<string | undefined>): string => texts.filter(Boolean).join(' ');
