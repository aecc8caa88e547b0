import type { IBinaryKeyData, IDataObject } from 'n8n-workflow';

/** An output item that carries files. */
export class ItemWithFiles {
	readonly json: IDataObject;
	readonly files: IBinaryKeyData;

	/** @param files by the name of their binary field */
	constructor(json: IDataObject, files: IBinaryKeyData) {
		this.json = json;
		this.files = files;
	}
}
