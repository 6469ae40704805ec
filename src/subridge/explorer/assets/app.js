// The page: controls, presets, address, and one redraw for every change.

class App {
  constructor(presets) {
    this.presets = Object.assign(Object.create(null), presets); // an address may hold a name that every object has, such as "constructor"
    this.state = stateFromAddress(location.hash, presets);
    this.controls = [...document.querySelectorAll("[data-setting]")];
    this.controls.forEach((control) => this.wire(control));
    const views = { curves: CurvesView, phase: PhaseView, matrix: MatrixView, subsets: SubsetsView };
    this.views = Object.entries(views).map(([id, View]) => new View(document.getElementById(id), this));
    this.wirePresets(document.getElementById("preset"));
    this.steps = Object.keys(presets).filter((id) => presets[id].group === "tour");
    this.wireButtons();
    window.addEventListener("hashchange", () => this.load(stateFromAddress(location.hash, presets)));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    this.load(this.state);
  }

  wire(control) {
    const name = control.dataset.setting, setting = SETTINGS[name];
    if (control.type === "range") {
      control.min = 0;
      control.max = setting.places;
      control.addEventListener("input", () => this.change({ [name]: setting.value(Number(control.value)) }));
    } else if (setting.kind === "letters") {
      control.addEventListener("change", () => {
        const others = this.state[name].replace(control.value, "");
        this.change({ [name]: sane(name, control.checked ? others + control.value : others) });
      });
    } else if (control.type === "checkbox") {
      control.addEventListener("change", () => this.change({ [name]: control.checked ? "1" : "0" }));
    } else {
      control.addEventListener("change", () => {
        const value = sane(name, control.value);
        if (setting.kind === "fractions" && value === "" && control.value.trim() !== "") {
          this.tellFractions(`Not used: fractions are positive, at most ${SETTINGS.n_members.max} of them, and sum to at most 1, as in 0.5, 0.3, 0.2.`);
        } else this.change({ [name]: value });
      });
    }
  }

  wirePresets(select) {
    const groups = new Map();
    for (const [id, { title, group }] of Object.entries(this.presets)) {
      if (!groups.has(group)) {
        const made = document.createElement("optgroup");
        made.label = group;
        groups.set(group, made);
        select.append(made);
      }
      groups.get(group).append(new Option(title, id));
    }
    select.addEventListener("change", () => this.load(stateOfPreset(this.presets, select.value)));
  }

  wireButtons() {
    const on = (id, act) => document.getElementById(id).addEventListener("click", act);
    on("again", () => this.change({ seed: (this.state.seed + 1) % 10000, fractions: "" }));
    for (const id of ["reset", "leave"]) on(id, () => this.load(standardState()));
    on("start", () => this.step(0));
    on("back", () => this.step(this.steps.indexOf(this.state.preset) - 1));
    on("next", () => this.step(this.steps.indexOf(this.state.preset) + 1));
    on("dark", () => {
      const { dataset } = document.documentElement;
      const dark = dataset.theme ? dataset.theme === "dark" : darkWanted();
      dataset.theme = dark ? "light" : "dark";
      this.draw();
    });
    on("share", async (event) => {
      this.write();
      const button = event.currentTarget;
      try {
        await navigator.clipboard.writeText(location.href);
        button.textContent = "copied";
      } catch {
        button.textContent = "the address bar has it";
      }
      setTimeout(() => (button.textContent = "copy link"), 1500);
    });
  }

  /** Take over the settings of a step of the tour. */
  step(number) {
    this.load(stateOfPreset(this.presets, this.steps[number] ?? ""));
    scrollTo(0, 0);
  }

  showTour() {
    const box = document.getElementById("tour"), at = this.steps.indexOf(this.state.preset), step = this.presets[this.state.preset];
    box.hidden = at < 0;
    if (at < 0) return;
    box.querySelector("h2").textContent = `${at + 1} of ${this.steps.length}: ${step.title}`;
    box.querySelector("p").textContent = step.note;
    document.getElementById("back").disabled = at === 0;
    document.getElementById("next").disabled = at === this.steps.length - 1;
  }

  /** Take over some settings; a new size or spread replaces given fractions, and curves reach where α is moved. */
  change(settings) {
    const before = this.state, after = { ...before, ...settings };
    if (after.sample_ratio !== before.sample_ratio && Number.isFinite(after.sample_ratio)) {
      const far = Math.max(after.sample_ratio, Number(after.largest_ratio));
      after.largest_ratio = SETTINGS.largest_ratio.options.find((end) => Number(end) >= far);
    }
    if ("n_members" in settings || "fraction_spread" in settings) after.fractions = "";
    if (after.phase_x === after.phase_y) {
      if ("phase_x" in settings) after.phase_y = before.phase_x;
      else after.phase_x = before.phase_y;
    }
    this.load(after);
  }

  load(state) {
    this.state = { ...state, n_members: sizeOf(state) };
    this.show();
    this.draw();
    clearTimeout(this.writing);
    this.writing = setTimeout(() => this.write(), 250);
  }

  write() {
    clearTimeout(this.writing);
    const address = addressOf(this.state, this.presets);
    if (address !== location.hash.slice(1)) history.replaceState(null, "", address ? `#${address}` : location.pathname + location.search);
  }

  /** Put the state into the controls. */
  show() {
    for (const control of this.controls) {
      const name = control.dataset.setting, setting = SETTINGS[name], value = this.state[name];
      if (control.type === "range") {
        control.value = setting.place(value);
        const text = brief(value, 4);
        control.setAttribute("aria-valuetext", text);
        control.parentElement.querySelector("output").textContent = text;
      } else if (setting.kind === "letters") control.checked = value.includes(control.value);
      else if (control.type === "checkbox") control.checked = value === "1";
      else control.value = value;
    }
    const preset = this.presets[this.state.preset];
    document.getElementById("preset").value = preset ? this.state.preset : "";
    document.getElementById("note").textContent = preset && preset.group !== "tour" ? preset.note : "";
    this.showTour();
    document.querySelector("main").dataset.first = preset?.view ?? "curves";
    this.tellFractions(this.state.fractions === "" ? "" : "These fractions are used until you move “members” or “heterogeneity”.");
  }

  tellFractions(text) {
    document.getElementById("given").textContent = text;
  }

  /** Redraw the curves at once, and the other views with the next frame: once for several moves. */
  draw() {
    const [curves, ...others] = this.views;
    curves.draw(this.state);
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = null;
      for (const view of others) view.draw(this.state);
    });
  }
}

if (document.getElementById("presets")) {
  window.subridge = {
    app: new App(JSON.parse(document.getElementById("presets").textContent)),
    risk, curve, prepare, bestRidge, bestRidgeless, bestAtOptimalRidge, bestScaledRidgeless, bestScaledAtOptimalRidge, phaseDiagram, stateFromAddress, addressOf, curveNumbers, drawFractions,
  };
}
