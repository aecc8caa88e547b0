import type { ITriggerFunctions } from 'n8n-workflow';

import { maxTimeUnstored, type StateVersion, storeState } from '../storedState';
import { storeOnly } from '../unwritable';
import type { Ledger } from './ledger';
import { entryOf, type LedgerEntry } from './ledgerEntries';
import type { GroupReading } from './groupReader';
import type { Group } from './groups';
import { maxLag, type Position } from './position';

/** How far a trigger has come, and what of that n8n has stored: from one publish or start of n8n to the next. */
export class Progress {
	position: Position;
	ledger: Ledger;
	/** What this process has stored last: another process may have stored a newer one. */
	version: StateVersion = { takeover: 0, revision: 0 };
	private readonly n8n: ITriggerFunctions;
	/** The open groups that were stored last; absent if the position has to be stored, too. */
	private storedGroups: Group[] | undefined;
	/** When the position was last stored only because of the time (Unix epoch ms). */
	private storedAt: number;

	constructor(n8n: ITriggerFunctions, position: Position, ledger: Ledger, now: number) {
		this.n8n = n8n;
		this.position = position;
		this.ledger = withoutInputs(ledger);
		this.storedGroups = this.groups;
		// At the end of the activation n8n stores its own copy, which may overwrite the state of another trigger.
		this.storedAt = now - maxTimeUnstored + maxLag;
	}

	/** Continues at another position, in the log of another credential. */
	moveTo(position: Position): void {
		this.position = position;
		this.ledger = withoutInputs(this.ledger);
		this.storedGroups = undefined;
	}

	/** Adds what was read. */
	add({ moved, groups }: GroupReading, now: number): void {
		this.position = { ...this.position, ...moved };
		const opened = groups.map(({ group, input }) => entryOf(group, { input }));
		this.ledger = { ...this.ledger, entries: [...this.ledger.entries, ...opened] };
		// A stored position must never look older than the service's log.
		if (now - this.storedAt <= maxTimeUnstored) return;
		this.storedAt = now;
		this.storedGroups = undefined;
	}

	/** Has n8n store it without starting anything, unless n8n has. */
	store(): void {
		const { groups, storedGroups } = this;
		if (groups.length === storedGroups?.length && groups.every((group, i) => group === storedGroups[i])) return;
		this.put();
		void storeOnly(this.n8n).then((isStored) => {
			if (!isStored) this.storedGroups = undefined;
		});
	}

	/** Puts it where n8n stores it: with the next `emit`, and after activation. */
	put(options?: { isTakeover: boolean }): void {
		const { position, groups } = this;
		this.storedGroups = groups;
		this.version = storeState(this.n8n, { ...position, open: groups }, options);
	}

	private get groups(): Group[] {
		return this.ledger.entries.map(({ group }) => group);
	}
}

/** What was read for an earlier choice may lack fields of the current one. */
const withoutInputs = (ledger: Ledger): Ledger =>
	({ ...ledger, entries: ledger.entries.map((entry): LedgerEntry => ({ ...entry, input: undefined })) });
