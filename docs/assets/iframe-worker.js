// Search in pages that are opened as files.  A browser starts no Worker there, so the script of the worker runs
// in a hidden frame, and messages go between the page and the frame.
"use strict";
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      const script = document.createElement("script");
      script.src = url;
      this.frame.srcdoc = `<script>
        self.postMessage = (data) => parent.postMessage(data, "*");
        self.importScripts = (...urls) => Promise.all(urls.map((each) => new Promise((done, failed) => {
          const more = document.createElement("script");
          Object.assign(more, { src: each, async: false, onload: done, onerror: failed });
          document.head.append(more);
        })));
      <\/script>${script.outerHTML}`;
      this.loaded = new Promise((done) => { this.frame.onload = done; });
      addEventListener("message", (event) => {
        if (event.source === this.frame.contentWindow) {
          this.dispatchEvent(new MessageEvent("message", { data: event.data }));
        }
      });
      document.documentElement.append(this.frame);
    }

    postMessage(data) {
      this.loaded.then(() => window.postMessage.call(this.frame.contentWindow, data, "*"));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
